import { join } from 'node:path';

import { request } from '@fw/core/testing';
import {
  expectDocument,
  lintFile,
  requestEverything,
  withoutCacheControl,
} from '@fw/service/testing';
import { expect, test } from 'vitest';

import { get, newApp, newLimits } from './testing/app.ts';

const VERSIONS = ['v1', 'v2'];

function fileOf(version: string): string {
  return join(import.meta.dirname, `../openapi/${version}.json`);
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly securitySchemes: unknown };
}

interface Operation {
  readonly deprecated?: boolean;
  readonly security: unknown;
  readonly responses: Readonly<
    Record<string, { readonly content?: object; readonly headers?: object }>
  >;
}

async function readDocument(): Promise<Document> {
  return (await (await request(newApp(), '/openapi.json')).json()) as Document;
}

test.each(['/openapi.json', '/docs/reports/openapi.json', '/docs', '/docs/reports'])(
  '%s is served without a token',
  async (path) => {
    const response = await request(newApp(), path);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain(
      path.endsWith('.json') ? 'application/json' : 'text/html',
    );
  },
);

test('the document contains the operations of both versions, each with a bearer token', async () => {
  const { paths, components } = await readDocument();

  expect(Object.keys(paths).sort()).toEqual([
    '/api/v1/reports',
    '/api/v2/reports',
    '/api/v2/reports/{id}',
  ]);
  for (const [path, { get }] of Object.entries(paths)) {
    expect(get.security).toEqual([{ bearer: [] }]);
    expect(get.deprecated ?? false).toBe(path.includes('/v1/'));
  }
  expect(components.securitySchemes).toEqual({
    bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  });
});

test.each([
  ['/api/v1/reports', ['200', '401', '405', '429', '500', '503']],
  ['/api/v2/reports', ['200', '401', '405', '406', '429', '500', '503']],
  ['/api/v2/reports/{id}', ['200', '400', '401', '404', '405', '406', '429', '500', '503']],
])('GET %s is documented with the status codes %j', async (path, statuses) => {
  const { paths } = await readDocument();

  expect(Object.keys(paths[path]?.get.responses ?? {})).toEqual(statuses);
});

test('a report is documented in its three formats, with the headers of the limiter', async () => {
  const { paths } = await readDocument();

  const response = paths['/api/v2/reports/{id}']?.get.responses['200'];

  expect(Object.keys(response?.content ?? {})).toEqual([
    'application/json',
    'text/csv',
    'text/html',
  ]);
  expect(Object.keys(response?.headers ?? {})).toEqual(
    expect.arrayContaining(['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']),
  );
});

test.each(VERSIONS)('openapi/%s.json is current', async (version) => {
  await expectDocument(newApp(), { version, file: fileOf(version) });
});

test.each(VERSIONS)('redocly lint reports nothing in openapi/%s.json', async (version) => {
  expect(await lintFile(fileOf(version))).toEqual([]);
});

test('every response has Cache-Control, with and without a token, and over the limit', async () => {
  const headers = { Authorization: 'Bearer ada-token' };
  const app = newApp({ limits: newLimits({ perMinute: { free: 3, pro: 3 } }) });

  const responses = await requestEverything(newApp(), headers);
  const refused = await requestEverything(newApp());
  const limited = new Map(await requestEverything(app, headers));
  for (let times = 0; times < 4; times++) {
    limited.set(`GET ${times}`, await get(app, '/api/v2/reports'));
  }

  expect([...limited.values()].map(({ status }) => status)).toContain(429);
  for (const each of [responses, refused, limited]) expect(withoutCacheControl(each)).toEqual([]);
});
