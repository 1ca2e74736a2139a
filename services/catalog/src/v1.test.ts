import { quiet, request } from '@fw/core/testing';
import { expect, onTestFinished, test } from 'vitest';

import { createCatalogApp } from './app.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';
import { createTestApi, itemOf } from './testing.ts';

const CATALOG = '/api/v1/catalog';

/** Reads a list of a catalog with the items 1 to 45. */
async function get(query: string): Promise<Response> {
  const api = await createTestApi(Array.from({ length: 45 }, (_, at) => itemOf(at + 1)));
  return request(api, CATALOG + query);
}

test.each([
  ['', { from: 1, to: 20, page: 1, limit: 20, totalPages: 3, hasNextPage: true }],
  ['?page=3', { from: 41, to: 45, page: 3, limit: 20, totalPages: 3, hasNextPage: false }],
  ['?page=5&limit=9', { from: 37, to: 45, page: 5, limit: 9, totalPages: 5, hasNextPage: false }],
  ['?page=4', { from: 61, to: 60, page: 4, limit: 20, totalPages: 3, hasNextPage: false }],
])('GET with "%s" returns id and name of the items of that page', async (query, expected) => {
  const response = await get(query);

  const { from, to, ...rest } = expected;
  const ids = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const items = ids.map((id) => ({ id, name: `Kettle ${id}` }));
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ items, total: 45, ...rest });
});

test.each([
  ['?page=0', 'page must be a positive integer'],
  ['?limit=101', 'limit must be between 1 and 100'],
])('GET with %s responds with 400: %s', async (query, detail) => {
  const response = await get(query);

  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ code: 'BAD_REQUEST', detail });
});

test('a service without a catalog sends 503 with Retry-After', async () => {
  const store = openSqliteCatalogStore(':memory:', { timeoutMs: 1_000 });
  onTestFinished(() => store.close());

  const response = await request(createCatalogApp({ store, logger: quiet }), CATALOG);

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
});
