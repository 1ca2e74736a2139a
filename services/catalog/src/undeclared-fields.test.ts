import { request } from '@fw/core/testing';
import { plantField } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { createCatalogApp } from './app.ts';
import { importText, itemOf, newSqliteDatabase, toLines } from './testing.ts';

test.each([
  '/api/v1/catalog',
  '/api/v2/catalog',
  '/api/v2/catalog?q=kettle&sort=-price',
  '/api/v2/catalog/facets',
  '/api/v2/catalog/figures',
  '/api/v2/catalog/1',
])('GET %s never sends an undeclared field of a row', async (path) => {
  const database = newSqliteDatabase();
  await importText(database, toLines([itemOf(1), itemOf(2)]));
  const app = createCatalogApp({ store: plantField(database.openStore()) });

  const response = await request(app, path);

  expect(response.status).toBe(200);
  expect(await response.text()).not.toContain('passwordHash');
});
