import { join } from 'node:path';

import { request } from '@fw/core/testing';
import {
  expectDocument,
  lintFile,
  requestEverything,
  withoutCacheControl,
} from '@fw/service/testing';
import { expect, test } from 'vitest';

import { get, newApp, newLimits, tokenOf } from './testing/app.ts';

const VERSIONS = ['v1', 'v2'];

function fileOf(version: string): string {
  return join(import.meta.dirname, `../openapi/${version}.json`);
}

test.each(['/openapi.json', '/docs/reports'])('%s is served without a token', async (path) => {
  expect((await request(newApp(), path)).status).toBe(200);
});

test.each(VERSIONS)('openapi/%s.json is current', async (version) => {
  await expectDocument(newApp(), { version, file: fileOf(version) });
});

test.each(VERSIONS)('redocly lint reports nothing in openapi/%s.json', async (version) => {
  expect(await lintFile(fileOf(version))).toEqual([]);
});

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
