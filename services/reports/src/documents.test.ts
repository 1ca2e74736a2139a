import { join } from 'node:path';

import { request } from '@fw/core/testing';
import { requestEverything, withoutCacheControl } from '@fw/service/testing';
import { testDocuments } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { get, newApp, newLimits, tokenOf } from './testing.ts';

test.each(['/openapi.json', '/docs/reports'])('%s is served without a token', async (path) => {
  expect((await request(newApp(), path)).status).toBe(200);
});

testDocuments(join(import.meta.dirname, '../openapi'), ['v1', 'v2'], () => newApp());

test('every response has Cache-Control, with and without a token, and over the limit', async () => {
  const headers = { Authorization: `Bearer ${tokenOf('ada')}` };
  const app = newApp({ limits: newLimits({ free: 3 }) });

  const responses = await requestEverything(newApp(), headers);
  const refused = await requestEverything(newApp());
  const limited = new Map(await requestEverything(app, headers));
  for (let times = 0; times < 4; times++) {
    limited.set(`GET ${times}`, await get(app, '/api/v2/reports'));
  }

  expect([...limited.values()].map(({ status }) => status)).toContain(429);
  for (const each of [responses, refused, limited]) expect(withoutCacheControl(each)).toEqual([]);
});
