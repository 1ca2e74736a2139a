import { join } from 'node:path';

import { plantField, sendTo } from '@fw/service/testing';
import { testDocuments, testUndeclaredFields } from '@fw/service/testing/vitest';

import { createCatalogApp } from './app.ts';
import { createTestApi, importText, itemOf, newSqliteDatabase, toLines } from './testing.ts';

testDocuments(join(import.meta.dirname, '../openapi'), ['v1', 'v2'], () => createTestApi([]));

testUndeclaredFields(async () => {
  const database = newSqliteDatabase();
  await importText(database, toLines([itemOf(1), itemOf(2)]));
  return sendTo(createCatalogApp({ store: plantField(database.openStore()) }));
}, [
  ['GET', '/api/v1/catalog'],
  ['GET', '/api/v2/catalog'],
  ['GET', '/api/v2/catalog?q=kettle&sort=-price'],
  ['GET', '/api/v2/catalog/facets'],
  ['GET', '/api/v2/catalog/figures'],
  ['GET', '/api/v2/catalog/1'],
]);
