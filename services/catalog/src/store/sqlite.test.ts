import { newSqliteDatabase } from '../testing.ts';
import { describeCatalogStore } from './contract.ts';

describeCatalogStore('the SQLite store', async () => newSqliteDatabase());
