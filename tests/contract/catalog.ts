import assert from 'node:assert/strict';

import { type Api, type Json, readJson, readProblem } from './api.ts';
import { type Check, check } from './check.ts';

const CATALOG = '/api/v1/catalog';
const BAD_PAGE = 'page must be a positive integer';
const BAD_LIMIT = 'limit must be between 1 and 100';

/** Version 1 of the catalog: the specification's paginated list, its limits and its rules. */
export const catalogChecks: readonly Check<Api>[] = [
  check('the list has items, page, limit, total, totalPages and hasNextPage', async (api) => {
    const page = await readPage(api, '');

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
  }),
  ...['', '?page=&limit=', '?page=', '?limit='].map((query) =>
    check<Api>(`the list of "${query}" is page 1 of 20 items`, async (api) => {
      const { page, limit, items } = await readPage(api, query);

      assert.deepEqual([page, limit, items.length], [1, 20, 20]);
    }),
  ),
  ...(
    [
      ['?limit=1', 1, 1],
      ['?limit=100', 1, 100],
      ['?page=2&page=3', 2, 20],
      ['?page=2&page=x', 2, 20],
      ['?limit=5&limit=0', 1, 5],
      ['?limit=1e1', 1, 10],
      ['?limit=0x10', 1, 16],
      ['?limit=%205%20', 1, 5],
      ['?page=2.0', 2, 20],
    ] as const
  ).map(([query, page, limit]) =>
    check<Api>(`the list of "${query}" is page ${page} of ${limit} items`, async (api) => {
      const answer = await readPage(api, query);

      assert.deepEqual([answer.page, answer.limit, answer.items.length], [page, limit, limit]);
    }),
  ),
  ...['0', '-1', '1.5', 'x', '1x', 'NaN', 'Infinity', 'x&page=1', '0&page=1'].map((value) =>
    check<Api>(`the list of "?page=${value}" answers 400: ${BAD_PAGE}`, async (api) => {
      const response = await api.get(`${CATALOG}?page=${value}`);

      assert.equal((await readProblem(response, 400, 'BAD_REQUEST')).detail, BAD_PAGE);
    }),
  ),
  ...['0', '101', '-1', '1.5', 'x', 'NaN', 'Infinity', '0&limit=5'].map((value) =>
    check<Api>(`the list of "?limit=${value}" answers 400: ${BAD_LIMIT}`, async (api) => {
      const response = await api.get(`${CATALOG}?limit=${value}`);

      assert.equal((await readProblem(response, 400, 'BAD_REQUEST')).detail, BAD_LIMIT);
    }),
  ),
  check('a page begins at (page-1)*limit and holds limit items', async (api) => {
    const first = await readPage(api, '?limit=20');

    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => readPage(api, `?limit=5&page=${page}`)),
    );

    assert.deepEqual(
      pages.flatMap(({ items }) => items),
      first.items,
    );
  }),
  check('the last page has no next one, and holds the rest', async (api) => {
    const { total, totalPages } = await readPage(api, '?limit=7');

    const last = await readPage(api, `?limit=7&page=${totalPages}`);

    assert.equal(last.hasNextPage, false);
    assert.equal(last.items.length, total - (totalPages - 1) * 7);
  }),
  check('a page past the end has no items, and says so', async (api) => {
    const { totalPages } = await readPage(api, '');

    const past = await readPage(api, `?page=${totalPages + 1}`);

    assert.deepEqual(past.items, []);
    assert.equal(past.hasNextPage, false);
    assert.equal(past.totalPages, totalPages);
  }),
];

async function readPage(api: Api, query: string): Promise<Json> {
  return await readJson(await api.get(CATALOG + query));
}
