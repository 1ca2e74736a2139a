import assert from 'node:assert/strict';

import { test } from 'vitest';

import type { paths } from '../../../services/catalog/openapi/v1.d.ts';
import { clientOf, type Json, readJson, readProblem } from '../requests.ts';
import { readTarget } from '../target.ts';

const CATALOG = '/api/v1/catalog';
const BAD_PAGE = 'page must be a positive integer';
const BAD_LIMIT = 'limit must be between 1 and 100';

const { api } = readTarget();
const client = clientOf<paths>(api.origin);

test('the list has items, page, limit, total, totalPages and hasNextPage', async () => {
  const page = await readPage('');

  assert.deepEqual(Object.keys(page).sort(), [
    'hasNextPage',
    'items',
    'limit',
    'page',
    'total',
    'totalPages',
  ]);
  assert.equal(page.totalPages, Math.ceil(page.total / page.limit));
  assert.equal(page.hasNextPage, page.page < page.totalPages);
  for (const item of page.items) {
    assert.deepEqual(Object.keys(item).sort(), ['id', 'name']);
    assert.ok(Number.isInteger(item.id), `id ${item.id} is an integer`);
    assert.equal(typeof item.name, 'string');
  }
});

for (const query of ['', '?page=&limit=', '?page=', '?limit=']) {
  test(`the list of "${query}" is page 1 of 20 items`, async () => {
    const { page, limit, items } = await readPage(query);

    assert.deepEqual([page, limit, items.length], [1, 20, 20]);
  });
}

for (const [query, page, limit] of [
  ['?limit=1', 1, 1],
  ['?limit=100', 1, 100],
  ['?page=2&page=3', 2, 20],
  ['?page=2&page=x', 2, 20],
  ['?limit=5&limit=0', 1, 5],
  ['?limit=1e1', 1, 10],
  ['?limit=0x10', 1, 16],
  ['?limit=%205%20', 1, 5],
  ['?page=2.0', 2, 20],
] as const) {
  test(`the list of "${query}" is page ${page} of ${limit} items`, async () => {
    const list = await readPage(query);

    assert.deepEqual([list.page, list.limit, list.items.length], [page, limit, limit]);
  });
}

for (const value of ['0', '-1', '1.5', 'x', '1x', 'NaN', 'Infinity', 'x&page=1', '0&page=1']) {
  test(`the list of "?page=${value}" returns 400: ${BAD_PAGE}`, async () => {
    const response = await api.get(`${CATALOG}?page=${value}`);

    assert.equal((await readProblem(response, 400, 'BAD_REQUEST')).detail, BAD_PAGE);
  });
}

for (const value of ['0', '101', '-1', '1.5', 'x', 'NaN', 'Infinity', '0&limit=5']) {
  test(`the list of "?limit=${value}" returns 400: ${BAD_LIMIT}`, async () => {
    const response = await api.get(`${CATALOG}?limit=${value}`);

    assert.equal((await readProblem(response, 400, 'BAD_REQUEST')).detail, BAD_LIMIT);
  });
}

test('a page starts at (page-1)*limit and has limit items', async () => {
  const first = await readPage('?limit=20');

  const pages = await Promise.all([1, 2, 3, 4].map((page) => readPage(`?limit=5&page=${page}`)));

  assert.deepEqual(
    pages.flatMap(({ items }) => items),
    first.items,
  );
});

test('the last page has no next page and contains the rest', async () => {
  const limit = 7;
  const { data: first } = await client.get(CATALOG, { query: { limit } });
  const { total, totalPages } = first;

  const { data: last } = await client.get(CATALOG, { query: { limit, page: totalPages } });

  assert.equal(last.hasNextPage, false);
  assert.equal(last.items.length, total - (totalPages - 1) * 7);
});

test('a page past the end has no items and no next page', async () => {
  const { data: first } = await client.get(CATALOG);
  const { totalPages } = first;

  const { data: past } = await client.get(CATALOG, { query: { page: totalPages + 1 } });

  assert.deepEqual(past.items, []);
  assert.equal(past.hasNextPage, false);
  assert.equal(past.totalPages, totalPages);
});

async function readPage(query: string): Promise<Json> {
  return await readJson(await api.get(CATALOG + query));
}
