import { describeCatalogStore } from '../store.test-suite.ts';
import { newSqliteDatabase } from '../testing.ts';

describeCatalogStore('the SQLite store', async () => newSqliteDatabase());
