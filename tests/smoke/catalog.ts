import assert from 'node:assert/strict';

import { type Api, type Json, readJson, readNothing, readProblem } from '../contract/api.ts';
import { type Check, check } from '../contract/check.ts';
import { nextPage } from './users.ts';

const CATALOG = '/api/v2/catalog';

/** Version 2 of the catalog, as a client uses it. */
export const catalogChecks: readonly Check<Api>[] = [
  check('catalog v2: pages follow each other without a gap, in each order', async (api) => {
    for (const sort of ['id', '-id', 'name', 'price', '-price']) {
      const whole = await readJson(await api.get(`${CATALOG}?sort=${sort}&limit=6`));

      const first = await api.get(`${CATALOG}?sort=${sort}&limit=3`);
      const second = await readJson(await api.get(nextPage(first)));

      const items = [...(await readJson(first)).data, ...second.data];
      assert.deepEqual(idsOf(items), idsOf(whole.data), `in the order of ${sort}`);
    }
  }),
  check('catalog v2: search finds the words, and takes every sign as text', async (api) => {
    const { data } = await readJson(await api.get(`${CATALOG}?q=stove&limit=5`));

    assert.ok(data.length > 0, 'something is found');
    for (const q of ['"', '* OR', "');--", '%', 'NEAR(', '日本']) {
      await readJson(await api.get(`${CATALOG}?q=${encodeURIComponent(q)}&limit=1`));
    }
  }),
  check('catalog v2: an item is read by its id, and 304 to who has it', async (api) => {
    const { data } = await readJson(await api.get(`${CATALOG}?limit=1`));
    const url = `${CATALOG}/${data[0].id}`;

    const response = await api.get(url);
    const again = await api.get(url, { 'if-none-match': response.headers.get('etag') ?? '' });

    assert.match(response.headers.get('cache-control') ?? '', /max-age=\d+/);
    assert.equal((await readJson(response)).data.id, data[0].id);
    await readNothing(again, 304);
  }),
  check('catalog v2: prices are kept within the bounds that are asked for', async (api) => {
    const { data } = await readJson(await api.get(`${CATALOG}?sort=price&minPrice=5000&limit=3`));

    assert.ok(data.length > 0, 'something is found');
    for (const { priceCents } of data) assert.ok(priceCents >= 5_000, `${priceCents} cents`);
  }),
  check('catalog v2: what is not there is 404, a made-up cursor 400, CSV 406', async (api) => {
    await readProblem(await api.get(`${CATALOG}/999999999`), 404, 'NOT_FOUND');
    await readProblem(await api.get(`${CATALOG}?cursor=made-up`), 400, 'BAD_REQUEST');
    await readProblem(await api.get(CATALOG, { accept: 'text/csv' }), 406, 'NOT_ACCEPTABLE');
  }),
];

function idsOf(items: Json[]): number[] {
  return items.map(({ id }) => id);
}
