import assert from 'node:assert/strict';

import { test } from 'vitest';

import type { paths } from '../../../services/reports/openapi/v2.d.ts';
import { clientOf } from '../requests.ts';
import { readTarget } from '../target.ts';

const REPORTS = '/api/v2/reports';
const REPORT = '/api/v2/reports/{id}';

const { api, newToken, createsUsers } = readTarget();
const client = clientOf<paths>(api, REPORTS);

test('reports v2: each report in the list is available as JSON, CSV and HTML', async () => {
  const token = newToken();
  const headers = { authorization: `Bearer ${token}` };
  const { data: list } = await client.get(REPORTS, { headers });
  assert.ok(list.data.length >= 4, `${list.data.length} reports`);

  for (const { id } of list.data) {
    const { data: json } = await client.get(REPORT, { path: { id }, headers });
    assert.equal(json.data.id, id);
    assert.equal(json.meta.partial, false);
    const names = json.data.columns.map(({ name }) => name);
    for (const row of json.data.rows) assert.deepEqual(Object.keys(row), names);

    const csv = await getReport(token, `/${id}`, 'text/csv');
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv\b/);
    assert.deepEqual((await csv.text()).split('\r\n')[0]?.split(','), names);

    const page = await getReport(token, `/${id}`, 'text/html');
    assert.match(page.headers.get('content-type') ?? '', /^text\/html\b/);
    assert.match(page.headers.get('vary') ?? '', /\baccept\b/i);
    assert.match(await page.text(), /<h1\b/);
  }
});

test('reports v2: the overview contains data of users and catalog', async () => {
  const headers = { authorization: `Bearer ${newToken()}` };
  const { data } = await client.get(REPORT, { path: { id: 'overview' }, headers });

  assert.deepEqual(data.meta, { partial: false, missing: [] });
  const sources = new Set(data.data.rows.map(({ source }) => source));
  assert.deepEqual([...sources].toSorted(), ['catalog', 'users']);
});

test.runIf(createsUsers)('reports v2: the tier pro has a higher limit than free', async () => {
  const limitOf = async (tier: 'free' | 'pro') =>
    Number((await getReport(newToken(tier), '')).headers.get('ratelimit-limit'));

  assert.ok((await limitOf('pro')) > (await limitOf('free')));
});

function getReport(token: string, path: string, accept = '*/*'): Promise<Response> {
  return api.get(REPORTS + path, { authorization: `Bearer ${token}`, accept });
}
