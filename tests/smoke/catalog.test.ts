import assert from 'node:assert/strict';

import { test } from 'vitest';

import { type Json, readJson, readNothing, readProblem } from '../api.ts';
import { readTarget } from '../target.ts';
import { nextPage } from './next-page.ts';

const CATALOG = '/api/v2/catalog';

const { api } = readTarget();

test('catalog v2: pages are consecutive in every order', async () => {
  for (const sort of ['id', '-id', 'name', 'price', '-price']) {
    const whole = await readJson(await api.get(`${CATALOG}?sort=${sort}&limit=6`));

    const first = await api.get(`${CATALOG}?sort=${sort}&limit=3`);
    const second = await readJson(await api.get(nextPage(first)));

    const items = [...(await readJson(first)).data, ...second.data];
    assert.deepEqual(idsOf(items), idsOf(whole.data), `sorted by ${sort}`);
  }
});

test('catalog v2: search finds words and treats operators as text', async () => {
  const { data } = await readJson(await api.get(`${CATALOG}?q=stove&limit=5`));

  assert.ok(data.length > 0, 'the result is not empty');
  for (const q of ['"', '* OR', "');--", '%', 'NEAR(', '日本']) {
    await readJson(await api.get(`${CATALOG}?q=${encodeURIComponent(q)}&limit=1`));
  }
});

test('catalog v2: an item is read by its id, and returns 304 for its ETag', async () => {
  const { data } = await readJson(await api.get(`${CATALOG}?limit=1`));
  const url = `${CATALOG}/${data[0].id}`;

  const response = await api.get(url);
  const again = await api.get(url, { 'if-none-match': response.headers.get('etag') ?? '' });

  assert.match(response.headers.get('cache-control') ?? '', /max-age=\d+/);
  assert.equal((await readJson(response)).data.id, data[0].id);
  await readNothing(again, 304);
});

test('catalog v2: minPrice limits the prices', async () => {
  const { data } = await readJson(await api.get(`${CATALOG}?sort=price&minPrice=5000&limit=3`));

  assert.ok(data.length > 0, 'the result is not empty');
  for (const { priceCents } of data) assert.ok(priceCents >= 5_000, `${priceCents} cents`);
});

test('catalog v2: an unknown item returns 404, an invalid cursor 400, CSV 406', async () => {
  await readProblem(await api.get(`${CATALOG}/999999999`), 404, 'NOT_FOUND');
  await readProblem(await api.get(`${CATALOG}?cursor=made-up`), 400, 'BAD_REQUEST');
  await readProblem(await api.get(CATALOG, { accept: 'text/csv' }), 406, 'NOT_ACCEPTABLE');
});

function idsOf(items: Json[]): number[] {
  return items.map(({ id }) => id);
}
