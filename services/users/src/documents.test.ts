import { join } from 'node:path';

import { request } from '@fw/core/testing';
import {
  expectDocument,
  lintFile,
  requestEverything,
  withoutCacheControl,
} from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';

import { createUsersApp } from './app.ts';
import { BODY_LIMIT } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import { createTestApi } from './testing.ts';

function newApi() {
  const store = openSqliteUserStore(':memory:');
  onTestFinished(() => store.close());
  return createTestApi(store);
}

const VERSIONS = ['v1', 'v2'];

function fileOf(version: string): string {
  return join(import.meta.dirname, `../openapi/${version}.json`);
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly { readonly name: string; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  readonly responses: object;
}

async function readOperations(): Promise<Map<string, Operation>> {
  const { app } = newApi();
  const { paths } = (await (await request(app, '/openapi.json')).json()) as Document;
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [`${method} ${path}`, operation]),
    ),
  );
}

test.each(['/openapi.json', '/docs/users/openapi.json', '/docs', '/docs/users'])(
  '%s is served',
  async (path) => {
    const { app } = newApi();

    const response = await request(app, path);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain(
      path.endsWith('.json') ? 'application/json' : 'text/html',
    );
  },
);

test('the document contains every operation of both versions; those of version 1 are deprecated', async () => {
  const operations = await readOperations();

  expect([...operations.keys()].sort()).toEqual([
    'delete /api/v1/users/{id}',
    'delete /api/v2/users/{id}',
    'get /api/v1/users',
    'get /api/v1/users/{id}',
    'get /api/v2/users',
    'get /api/v2/users/figures',
    'get /api/v2/users/{id}',
    'patch /api/v2/users/{id}',
    'post /api/v1/users',
    'post /api/v2/users',
    'put /api/v1/users/{id}',
  ]);
  for (const [name, { summary, deprecated = false }] of operations) {
    expect(summary).not.toContain('/api');
    expect(deprecated).toBe(name.includes('/v1/'));
  }
});

test('the document requires a body for every method with one except PUT', async () => {
  const operations = [...(await readOperations())].filter(([, { requestBody }]) => requestBody);

  expect(operations.map(([name, { requestBody }]) => [name, requestBody?.required])).toEqual(
    expect.arrayContaining([
      ['post /api/v1/users', true],
      ['put /api/v1/users/{id}', false],
      ['post /api/v2/users', true],
      ['patch /api/v2/users/{id}', true],
    ]),
  );
});

test.each([
  ['get /api/v2/users', ['200', '400', '405', '406', '500', '503']],
  ['get /api/v2/users/{id}', ['200', '304', '400', '404', '405', '406', '500', '503']],
  ['post /api/v2/users', ['201', '400', '405', '406', '409', '413', '415', '422', '500', '503']],
  [
    'patch /api/v2/users/{id}',
    ['200', '400', '404', '405', '406', '409', '412', '413', '415', '500', '503'],
  ],
  ['delete /api/v2/users/{id}', ['200', '400', '404', '405', '406', '412', '500', '503']],
  ['get /api/v1/users/{id}', ['200', '400', '404', '405', '500', '503']],
  ['post /api/v1/users', ['201', '400', '405', '413', '415', '500', '503']],
])('%s is documented with the status codes %j', async (name, statuses) => {
  const operations = await readOperations();

  expect(Object.keys(operations.get(name)?.responses ?? {})).toEqual(statuses);
});

test.each([
  ['get /api/v2/users', 'cursor', { pattern: '^[A-Za-z0-9_-]+$', maxLength: 2_000 }],
  ['get /api/v2/users', 'email', { pattern: '^[^\\x00]*$', minLength: 1, maxLength: 1_000 }],
  [
    'get /api/v1/users',
    'page',
    {
      anyOf: [
        { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        { type: 'string', const: '' },
      ],
    },
  ],
  ['patch /api/v2/users/{id}', 'if-match', { pattern: expect.stringMatching(/^\^.*W/) }],
])('%s documents which values of %s are valid', async (operation, name, schema) => {
  const { parameters = [] } = (await readOperations()).get(operation) ?? {};

  expect(parameters.find((each) => each.name === name)?.schema).toMatchObject(schema);
});

test('PATCH is documented with the media types of a merge patch', async () => {
  const operations = await readOperations();

  expect(
    Object.keys(operations.get('patch /api/v2/users/{id}')?.requestBody?.content ?? {}),
  ).toEqual(['application/merge-patch+json', 'application/json']);
});

test.each(VERSIONS)('openapi/%s.json is current', async (version) => {
  await expectDocument(newApi().app, { version, file: fileOf(version) });
});

test.each(VERSIONS)('redocly lint reports nothing in openapi/%s.json', async (version) => {
  expect(await lintFile(fileOf(version))).toEqual([]);
});

test('every response has Cache-Control, with and without a store', async () => {
  const store = openSqliteUserStore(':memory:');
  const app = createUsersApp({
    store,
    bodyLimit: BODY_LIMIT,
    logger: { info() {}, warn() {}, error() {} },
  });

  const responses = await requestEverything(app);
  await store.close();
  const failures = await requestEverything(app);

  expect(withoutCacheControl(responses)).toEqual([]);
  expect(withoutCacheControl(failures)).toEqual([]);
});

test.each(['', '?page=1', '/1'])(
  'GET /api/v1/users%s has Cache-Control: no-store',
  async (path) => {
    const { app, send } = newApi();
    await send('POST', '/api/v1/users', { name: 'Ada', email: 'ada@example.com' });

    const response = await request(app, `/api/v1/users${path}`);

    expect(response.headers.get('cache-control')).toBe('no-store');
  },
);
