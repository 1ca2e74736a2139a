import { request } from '@fw/core/testing';
import { expect, onTestFinished, test } from 'vitest';

import { createCatalogApp } from './app.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';
import { createTestApi, itemOf } from './testing.ts';

const CATALOG = '/api/v1/catalog';

/** Creates the API with the items 1 to `total`. */
async function newApi(total: number) {
  return createTestApi(Array.from({ length: total }, (_, at) => itemOf(at + 1)));
}

test('GET of the list returns id and name of the first 20 items', async () => {
  const response = await request(await newApi(45), CATALOG);

  expect(response.status).toBe(200);
  const items = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, name: `Kettle ${at + 1}` }));
  expect(await response.json()).toEqual({
    items,
    page: 1,
    limit: 20,
    total: 45,
    totalPages: 3,
    hasNextPage: true,
  });
});

test.each([
  ['?page=2', { from: 21, to: 40, page: 2, limit: 20, totalPages: 3, hasNextPage: true }],
  ['?page=3', { from: 41, to: 45, page: 3, limit: 20, totalPages: 3, hasNextPage: false }],
  ['?page=5&limit=9', { from: 37, to: 45, page: 5, limit: 9, totalPages: 5, hasNextPage: false }],
  ['?limit=1', { from: 1, to: 1, page: 1, limit: 1, totalPages: 45, hasNextPage: true }],
  ['?limit=100', { from: 1, to: 45, page: 1, limit: 100, totalPages: 1, hasNextPage: false }],
  ['?page=&limit=', { from: 1, to: 20, page: 1, limit: 20, totalPages: 3, hasNextPage: true }],
  [
    '?page=2&page=x&limit=5&limit=0',
    { from: 6, to: 10, page: 2, limit: 5, totalPages: 9, hasNextPage: true },
  ],
])('GET with %s returns that page', async (query, { from, to, ...rest }) => {
  const response = await request(await newApi(45), CATALOG + query);

  expect(response.status).toBe(200);
  const items = Array.from({ length: to - from + 1 }, (_, at) => ({
    id: from + at,
    name: `Kettle ${from + at}`,
  }));
  expect(await response.json()).toEqual({ items, total: 45, ...rest });
});

test.each(['4', '9007199254740991'])('page %s after the last one has no items', async (page) => {
  const response = await request(await newApi(45), `${CATALOG}?page=${page}&limit=100`);

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    items: [],
    page: Number(page),
    limit: 100,
    total: 45,
    totalPages: 1,
    hasNextPage: false,
  });
});

test.each([
  ['?page=0', 'page must be a positive integer'],
  ['?page=-1', 'page must be a positive integer'],
  ['?page=1.5', 'page must be a positive integer'],
  ['?page=two', 'page must be a positive integer'],
  ['?page=1e999', 'page must be a positive integer'],
  ['?page=9007199254740992', 'page must be a positive integer'],
  ['?page=x&page=1', 'page must be a positive integer'],
  ['?limit=0', 'limit must be between 1 and 100'],
  ['?limit=101', 'limit must be between 1 and 100'],
  ['?limit=2.5', 'limit must be between 1 and 100'],
  ['?limit=all', 'limit must be between 1 and 100'],
])('GET with %s responds with 400: %s', async (query, detail) => {
  const response = await request(await newApi(1), CATALOG + query);

  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ code: 'BAD_REQUEST', detail });
});

test('a service without a catalog sends 503 with Retry-After', async () => {
  const store = openSqliteCatalogStore(':memory:', { timeoutMs: 1_000 });
  onTestFinished(() => store.close());

  const logger = { info() {}, warn() {}, error() {} };
  const response = await request(createCatalogApp({ store, logger }), CATALOG);

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
});

test('any other method responds with 405 and Allow', async () => {
  const response = await request(await newApi(1), CATALOG, { method: 'POST' });

  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD');
});

test.each(['?page=1', '?page=0'])('GET with %s has a link to version 2', async (query) => {
  const response = await request(await newApi(1), CATALOG + query);

  expect(response.headers.get('deprecation')).toBe('@1796083200');
  expect(response.headers.get('link')).toBe('</api/v2/catalog>; rel="successor-version"');
});

test('a path without a route responds with 404', async () => {
  expect((await request(await newApi(1), `${CATALOG}/1`)).status).toBe(404);
});
