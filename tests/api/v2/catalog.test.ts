import assert from 'node:assert/strict';

import { readJson, readNothing } from '@fw/service/testing';
import { test } from 'vitest';

import type { paths } from '../../../services/catalog/openapi/v2.d.ts';
import { clientOf, nextPage } from '../requests.ts';
import { readTarget } from '../target.ts';

const CATALOG = '/api/v2/catalog';

const { api } = readTarget();
const client = clientOf<paths>(api, CATALOG);

test('catalog v2: pages are consecutive in every order', async () => {
  for (const sort of ['id', '-id', 'name', 'price', '-price'] as const) {
    const whole = await client.get(CATALOG, { query: { sort, limit: 6 } });

    const first = await client.get(CATALOG, { query: { sort, limit: 3 } });
    const second = await readJson(await api.get(nextPage(first)));

    const items = [...first.data.data, ...second.data];
    assert.deepEqual(idsOf(items), idsOf(whole.data.data), `sorted by ${sort}`);
  }
});

test('catalog v2: search finds words and treats operators as text', async () => {
  const { data } = await client.get(CATALOG, { query: { q: 'stove', limit: 5 } });

  assert.ok(data.data.length > 0, 'the result is not empty');
  for (const q of ['"', '* OR', "');--", '%', 'NEAR(', '日本']) {
    await client.get(CATALOG, { query: { q, limit: 1 } });
  }
});

test('catalog v2: an item is read by its id, and returns 304 for its ETag', async () => {
  const list = await client.get(CATALOG, { query: { limit: 1 } });
  const id = list.data.data[0]?.id ?? 0;

  const { data, headers, etag = '' } = await client.get(`${CATALOG}/{id}`, { path: { id } });
  const again = await api.get(`${CATALOG}/${id}`, { 'if-none-match': etag });

  assert.match(headers.get('cache-control') ?? '', /max-age=\d+/);
  assert.equal(data.data.id, id);
  await readNothing(again, 304);
});

function idsOf(items: readonly { readonly id: number }[]): number[] {
  return items.map(({ id }) => id);
}
