import assert from 'node:assert/strict';

import { type Api, type Json, readJson, readProblem } from '../contract/api.ts';
import { type Check, check } from '../contract/check.ts';
import type { Target } from '../contract/target.ts';

const REPORTS = '/api/v2/reports';

/** Version 2 of the reports, as a client uses it. */
export const reportsChecks: readonly Check<Target>[] = [
  check('reports v2: each report of the list is there as JSON, CSV and a page', async (target) => {
    const { api } = target;
    const token = target.newToken();
    const { data } = await readJson(await getReport(api, token, ''));
    assert.ok(data.length >= 4, `${data.length} reports`);

    for (const { id } of data) {
      const json = await readJson(await getReport(api, token, `/${id}`, 'application/json'));
      assert.equal(json.data.id, id);
      assert.equal(json.meta.partial, false);
      const names = json.data.columns.map(({ name }: Json) => name);
      for (const row of json.data.rows) assert.deepEqual(Object.keys(row), names);

      const csv = await getReport(api, token, `/${id}`, 'text/csv');
      assert.match(csv.headers.get('content-type') ?? '', /^text\/csv\b/);
      assert.deepEqual((await csv.text()).split('\r\n')[0]?.split(','), names);

      const page = await getReport(api, token, `/${id}`, 'text/html');
      assert.match(page.headers.get('content-type') ?? '', /^text\/html\b/);
      assert.match(page.headers.get('vary') ?? '', /\baccept\b/i);
      assert.match(await page.text(), /<h1\b/);
    }
  }),
  check('reports v2: what the other two know is in one report', async ({ api, newToken }) => {
    const { data, meta } = await readJson(await getReport(api, newToken(), '/overview'));

    assert.deepEqual(meta, { partial: false, missing: [] });
    const sources = new Set(data.rows.map(({ source }: Json) => source));
    assert.deepEqual([...sources].toSorted(), ['catalog', 'users']);
  }),
  check('reports v2: another format is 406, another report 404, no token 401', async (target) => {
    const { api } = target;
    const token = target.newToken();

    const image = await getReport(api, token, '/users-by-day', 'image/png');
    await readProblem(image, 406, 'NOT_ACCEPTABLE');
    await readProblem(await getReport(api, token, '/nothing'), 404, 'NOT_FOUND');
    const anonymous = await api.get(`${REPORTS}/users-by-day`);
    assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Bearer\b/);
    await readProblem(anonymous, 401, 'UNAUTHORIZED');
  }),
  check('reports v2: a pro may ask for more than others', async ({ api, newToken }) => {
    const limitOf = async (tier: 'free' | 'pro') =>
      Number((await getReport(api, newToken(tier), '')).headers.get('ratelimit-limit'));

    assert.ok((await limitOf('pro')) > (await limitOf('free')));
  }),
];

function getReport(api: Api, token: string, path: string, accept = '*/*'): Promise<Response> {
  return api.get(REPORTS + path, { authorization: `Bearer ${token}`, accept });
}
