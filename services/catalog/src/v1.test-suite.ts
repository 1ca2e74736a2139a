import { type Json, readJson, readProblem, type Send } from '@fw/service/testing';
import { expect, test } from 'vitest';

const CATALOG = '/api/v1/catalog';

/** Tests of version 1 for any system whose catalog has more than 100 items. */
export function describeCatalogV1(send: Send): void {
  const readPage = async (query: string): Promise<Json> =>
    readJson(await send('GET', CATALOG + query));

  test.each([
    ['', 1, 20],
    ['?page=&limit=', 1, 20],
    ['?page=', 1, 20],
    ['?limit=', 1, 20],
    ['?limit=1', 1, 1],
    ['?limit=100', 1, 100],
    ['?page=2&page=3', 2, 20],
    ['?page=2&page=x', 2, 20],
    ['?limit=5&limit=0', 1, 5],
    ['?limit=1e1', 1, 10],
    ['?limit=0x10', 1, 16],
    ['?limit=%205%20', 1, 5],
    ['?page=2.0', 2, 20],
  ])('the list of "%s" is page %i of %i items', async (query, page, limit) => {
    const { items, total, ...rest } = await readPage(query);

    const totalPages = Math.ceil(total / limit);
    expect(rest).toEqual({ page, limit, totalPages, hasNextPage: true });
    expect(items).toHaveLength(limit);
    expect(items[0]).toEqual({ id: expect.any(Number), name: expect.any(String) });
  });

  test.each([
    ...['0', '-1', '1.5', 'x', '1x', 'NaN', 'Infinity', 'x&page=1', '0&page=1'].map(
      (value) => [`page=${value}`, 'page must be a positive integer'] as const,
    ),
    ...['0', '101', '-1', '1.5', 'x', 'NaN', 'Infinity', '0&limit=5'].map(
      (value) => [`limit=${value}`, 'limit must be between 1 and 100'] as const,
    ),
  ])('the list of "?%s" responds with 400: %s', async (query, detail) => {
    const response = await send('GET', `${CATALOG}?${query}`);

    expect(await readProblem(response, 400, 'BAD_REQUEST')).toMatchObject({ detail });
  });

  test('consecutive pages contain the items in the order of their ids', async () => {
    const first = await readPage('?limit=20');

    const pages = await Promise.all([1, 2, 3, 4].map((page) => readPage(`?limit=5&page=${page}`)));

    expect(pages.flatMap(({ items }) => items)).toEqual(first.items);
    const ids: number[] = first.items.map(({ id }: Json) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  test('the last page contains the rest, a page after it nothing', async () => {
    const { total, totalPages } = await readPage('?limit=7');

    const last = await readPage(`?limit=7&page=${totalPages}`);
    const past = await readPage(`?limit=7&page=${totalPages + 1}`);

    expect([last.hasNextPage, past.hasNextPage]).toEqual([false, false]);
    expect(last.items).toHaveLength(total - (totalPages - 1) * 7);
    expect(past).toMatchObject({ items: [], total, totalPages });
  });
}
