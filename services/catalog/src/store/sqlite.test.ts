import { newSqlitePlace } from '../testing.ts';
import { describeCatalogStore } from './contract.ts';

describeCatalogStore('the SQLite store', async () => newSqlitePlace());
