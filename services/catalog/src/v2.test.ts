import { quiet, request } from '@fw/core/testing';
import type { Application } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { createCatalogApp } from './app.ts';
import { ItemPageResponse } from './schemas.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';
import { createTestApi, itemOf } from './testing.ts';

const CATALOG = '/api/v2/catalog';

const ASSORTED = [
  itemOf(1, { name: 'Café Table', priceCents: 9900, category: 'Garden' }),
  itemOf(2, { name: 'Kettle', priceCents: 4990 }),
  itemOf(3, { name: 'Teapot', priceCents: 2990, brand: 'Otto & Söhne' }),
  itemOf(4, { name: 'Chair', priceCents: 9900, category: 'Garden' }),
];

async function read(api: Application, path: string) {
  const response = await request(api, path);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function idsOf(body: unknown): readonly number[] {
  return ItemPageResponse.parse(body).data.map(({ id }) => id);
}

function nextCursorOf(body: unknown): string | undefined {
  return ItemPageResponse.parse(body).meta.nextCursor;
}

test('GET of the list returns 20 complete items', async () => {
  const api = await createTestApi(Array.from({ length: 25 }, (_, at) => itemOf(at + 1)));

  const { status, headers, body } = await read(api, CATALOG);

  expect(status).toBe(200);
  expect(body).toEqual({
    data: Array.from({ length: 20 }, (_, at) => itemOf(at + 1)),
    meta: { limit: 20, nextCursor: expect.any(String) },
  });
  expect(headers.get('cache-control')).toBe('public, max-age=60');
  expect(headers.get('etag')).toMatch(/^"[0-9a-f]{16}"$/);
});

test('with authentication no shared cache may store an item, only the figures', async () => {
  const api = await createTestApi(ASSORTED, {
    authenticate(ctx, next) {
      ctx.state.user = { id: 'ada' };
      return next();
    },
  });

  for (const path of ['', '/facets', '/1']) {
    const { headers } = await read(api, CATALOG + path);
    expect(headers.get('cache-control'), path).toBe('private, max-age=60');
    const etag = headers.get('etag') ?? '';
    const again = await request(api, CATALOG + path, { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    expect(again.headers.get('cache-control'), path).toBe('private, max-age=60');
  }
  const { headers } = await read(api, `${CATALOG}/figures`);
  expect(headers.get('cache-control')).toBe('public, max-age=60');
});

test.each(['&sort=name&q=boils', '&minPrice=1&sort=-price'])(
  'Link leads through all pages with "%s"',
  async (query) => {
    const api = await createTestApi(Array.from({ length: 7 }, (_, at) => itemOf(at + 1)));
    const seen: number[] = [];

    let next: string | undefined = `${CATALOG}?limit=3${query}`;
    while (next) {
      const { status, headers, body } = await read(api, next);
      expect(status).toBe(200);
      seen.push(...idsOf(body));
      next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
      expect(next === undefined).toBe(nextCursorOf(body) === undefined);
    }

    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  },
);

test.each([
  ['?sort=-price', [4, 1, 2, 3]],
  ['?sort=name', [1, 4, 2, 3]],
  ['?q=CAFE', [1]],
  ['?q=%22%20OR%20%22', []],
  ['?brand=Otto%20%26%20S%C3%B6hne', [3]],
  ['?minPrice=4990&maxPrice=4990', [2]],
  ['?category=Garden&q=chair&maxPrice=9900&sort=-name', [4]],
])('GET with %s returns the items %j', async (query, ids) => {
  const { status, body } = await read(await createTestApi(ASSORTED), CATALOG + query);

  expect(status).toBe(200);
  expect(idsOf(body)).toEqual(ids);
});

test.each([
  ['?limit=101', '/limit'],
  ['?sort=brand', '/sort'],
  ['?minPrice=-1', '/minPrice'],
  ['?maxPrice=', '/maxPrice'],
  ['?minPrice=1&minPrice=2', '/minPrice'],
  [`?q=${'x'.repeat(201)}`, '/q'],
  ['?colour=red', '/colour'],
])('GET with %s responds with 400', async (query, pointer) => {
  const { status, body } = await read(await createTestApi(ASSORTED), CATALOG + query);

  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ in: 'query', pointer }] });
});

test('a cursor of another list responds with 400', async () => {
  const api = await createTestApi(ASSORTED);
  const { body } = await read(api, `${CATALOG}?limit=1&sort=price`);
  const nextCursor = nextCursorOf(body);

  for (const query of [
    `?sort=name&cursor=${nextCursor}`,
    `?sort=price&q=tea&cursor=${nextCursor}`,
  ]) {
    const refused = await read(api, CATALOG + query);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ detail: 'cursor must be one that this list returned' });
  }
  expect((await read(api, `${CATALOG}?limit=2&sort=price&cursor=${nextCursor}`)).status).toBe(200);
});

test('GET of an item returns it, or 404 naming the id', async () => {
  const api = await createTestApi(ASSORTED);

  expect((await read(api, `${CATALOG}/3`)).body).toEqual({ data: ASSORTED[2] });
  const missing = await read(api, `${CATALOG}/9`);
  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({ code: 'NOT_FOUND', detail: 'Item "9" not found' });
  expect(missing.headers.get('cache-control')).toBe('no-store');
  expect((await read(api, `${CATALOG}/03`)).status).toBe(400);
});

test('GET with an Accept that excludes JSON responds with 406', async () => {
  const headers = { Accept: 'text/csv' };

  expect((await request(await createTestApi([]), CATALOG, { headers })).status).toBe(406);
});

test('facets count the items that match a filter', async () => {
  const { body } = await read(await createTestApi(ASSORTED), `${CATALOG}/facets?maxPrice=5000`);

  expect(body).toEqual({
    data: {
      category: [{ value: 'Kitchen', count: 2 }],
      brand: [
        { value: 'Brisk', count: 1 },
        { value: 'Otto & Söhne', count: 1 },
      ],
    },
    meta: { counted: 2, isExact: true },
  });
});

test('figures count items and summarize their prices', async () => {
  const { body } = await read(await createTestApi(ASSORTED), `${CATALOG}/figures`);

  const garden = { minPriceCents: 9900, medianPriceCents: 9900, maxPriceCents: 9900 };
  const kitchen = { minPriceCents: 2990, medianPriceCents: 2990, maxPriceCents: 4990 };
  expect(body).toEqual({
    data: {
      total: 4,
      byCategory: [
        { category: 'Garden', currency: 'EUR', items: 2, ...garden },
        { category: 'Kitchen', currency: 'EUR', items: 2, ...kitchen },
      ],
    },
    meta: { isExact: true },
  });
});

test.each(['', '?q=tea', '/3', '/facets', '/figures'])(
  'GET of "%s" responds with 304 if the client has the current version',
  async (path) => {
    const api = await createTestApi(ASSORTED);
    const etag = (await request(api, CATALOG + path)).headers.get('etag') ?? '';

    const headers = { 'If-None-Match': `"other", W/${etag}` };
    const response = await request(api, CATALOG + path, { headers });

    expect(response.status).toBe(304);
    expect(response.headers.get('etag')).toBe(etag);
    expect(response.headers.get('cache-control')).toBe('public, max-age=60');
    const stale = { headers: { 'If-None-Match': '"other"' } };
    expect((await request(api, CATALOG + path, stale)).status).toBe(200);
  },
);

test('an error response after the version was read is not cacheable', async () => {
  const store = openSqliteCatalogStore(':memory:', { timeoutMs: 1_000 });
  onTestFinished(() => store.close());
  const app = createCatalogApp({ store: { ...store, version: async () => 'v1' }, logger: quiet });

  const response = await request(app, '/api/v2/catalog/figures', {
    headers: { 'If-None-Match': '"v0"' },
  });

  expect(response.status).toBe(503);
  expect(response.headers.get('cache-control')).toBe('no-store');
});
