import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Example, startExample } from './testing.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample('pagination');
});
afterAll(() => example.stop());

const get = (query: string) => fetch(`${example.origin}/users${query}`);

test('GET /users sends the first 20 items', async () => {
  const response = await get('');

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    items: Array.from({ length: 20 }, (_, at) => ({ id: at + 1, name: `User ${at + 1}` })),
    page: 1,
    limit: 20,
    total: 45,
    totalPages: 3,
    hasNextPage: true,
  });
});

describe.each([
  ['?page=&limit=', 'counts empty as absent', { page: 1, limit: 20 }, [1, 20]],
  ['?page=2', 'continues after the first page', { page: 2, hasNextPage: true }, [21, 40]],
  ['?page=3', 'contains the remaining items', { page: 3, hasNextPage: false }, [41, 45]],
  ['?limit=1', 'accepts the smallest limit', { totalPages: 45, hasNextPage: true }, [1, 1]],
  ['?limit=100', 'accepts the largest limit', { totalPages: 1, hasNextPage: false }, [1, 45]],
  [
    '?page=5&limit=9',
    'has no next page if the last page is full',
    { hasNextPage: false },
    [37, 45],
  ],
  [
    '?page=2&page=3&limit=10&limit=x',
    'uses the first value of a repeated key',
    { page: 2 },
    [11, 20],
  ],
  ['?page=1e0&limit=0x10', 'parses numbers like Number()', { page: 1, limit: 16 }, [1, 16]],
])('GET /users%s', (query, fact, expected, [first, last]) => {
  test(fact, async () => {
    const body = (await (await get(query)).json()) as { items: { id: number }[] };

    expect(body).toMatchObject(expected);
    expect([body.items.at(0)?.id, body.items.at(-1)?.id]).toEqual([first, last]);
  });
});

test.each(['?page=4', '?page=1e300'])('GET /users%s is past the end: no items', async (query) => {
  const response = await get(query);

  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ items: [], total: 45, hasNextPage: false });
});

test.each([
  ...['0', '-1', '1.5', 'x', '2x', 'NaN', 'Infinity'].map((value) => ['page', value]),
  ...['0', '-1', '1.5', 'x', '101', 'NaN', 'Infinity'].map((value) => ['limit', value]),
])('GET /users?%s=%s is 400', async (name, value) => {
  const response = await get(`?${name}=${value}`);

  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toMatch('application/problem+json');
  expect(await response.json()).toMatchObject({
    detail: name === 'page' ? 'page must be a positive integer' : 'limit must be between 1 and 100',
    code: 'BAD_REQUEST',
  });
});
