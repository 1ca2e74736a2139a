import {
  annotate,
  type Context,
  createRouter,
  endpoint,
  type Middleware,
  type RouteMetadata,
} from '@fw/core';
import { rateLimit, tieredRateLimit } from '@fw/rate-limit';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';

import type { Reference } from './components.ts';
import { generateDocument } from './index.ts';
import type { Response } from './responses.ts';
import { describeRoute } from './testing/describe-route.ts';

const handler = (ctx: Context) => ctx.json({});
const withMetadata = (metadata: RouteMetadata) =>
  annotate<Middleware>((_ctx, next) => next(), metadata);
const validates = (validation: object) => withMetadata({ validation });

test('a document is OpenAPI 3.1.1 with the titles that info has or lacks', async () => {
  expect(await generateDocument([])).toMatchObject({
    openapi: '3.1.1',
    info: { title: 'API', version: '1.0.0' },
    servers: [{ url: '/' }],
    security: [],
    paths: {},
  });
  const info = { title: 'Users', description: 'People', license: { name: 'MIT' } };
  const servers = [{ url: 'https://api.example.com' }];
  expect(await generateDocument([], { info, servers })).toMatchObject({
    info: { ...info, version: '1.0.0' },
    servers,
  });
});

test('paths are those that requests use: prefix, group, mount and wildcard', async () => {
  const files = createRouter().get('/*', handler);
  const router = createRouter({ prefix: '/api' });
  router.group('/v1', (v1) => {
    v1.get('/users/:id', handler).post('/users', handler);
  });
  router.mount('/files', files);

  const { paths } = await generateDocument(router.getRoutes());

  expect(Object.keys(paths)).toEqual(['/api/v1/users/{id}', '/api/v1/users', '/api/files/{path}']);
  expect(paths['/api/files/{path}']?.get?.parameters).toEqual([
    {
      name: 'path',
      in: 'path',
      required: true,
      description: expect.stringContaining('rest of the path'),
      schema: { type: 'string', minLength: 1, pattern: String.raw`^[^\\\x00]+$` },
      'x-wildcard': true,
    },
  ]);
});

test('a route without metadata is an untyped operation', async () => {
  const { operation, components } = await describeRoute('GET /plain');

  expect(components).not.toHaveProperty('securitySchemes');
  expect(operation).toEqual({
    operationId: 'getPlain',
    summary: 'GET /plain',
    responses: {
      '2XX': { description: 'Success' },
      405: { $ref: '#/components/responses/MethodNotAllowed' },
      500: { $ref: '#/components/responses/InternalServerError' },
    },
  });
});

test('an internal operation is omitted, other operations of its path are not', async () => {
  const router = createRouter()
    .get('/u', handler)
    .post('/u', endpoint({ visibility: 'internal' }), handler)
    .get('/secret', endpoint({ visibility: 'internal' }), handler);

  const { paths } = await generateDocument(router.getRoutes());

  expect(Object.keys(paths)).toEqual(['/u']);
  expect(Object.keys(paths['/u'] ?? {})).toEqual(['get']);
});

test.each([
  ['/admin', ['/admin', '/admin/users']],
  ['/admin/', ['/admin', '/admin/users']],
  ['/Admin/users', ['/admin/users']],
  ['/users/:id', ['/users/{id}', '/users/{id}/posts']],
])('exclude %s ends at a segment', async (prefix, excluded) => {
  const router = createRouter().get('/users', handler).get('/users/:id/posts', handler);
  router.get('/admin', handler).get('/admin/users', handler).get('/users/:id', handler);
  router.get('/administer', handler).get('/ADMINS/x', handler);

  const { paths: all } = await generateDocument(router.getRoutes());
  const { paths } = await generateDocument(router.getRoutes(), { exclude: [prefix] });

  const missing = Object.keys(all).filter((path) => !(path in paths));
  expect(missing.sort()).toEqual(excluded);
});

test('operation ids are the method and the path, numbered if a route has them', async () => {
  const router = createRouter()
    .all('/a-b', handler)
    .get('/a_b', handler)
    .get('/a/b', handler)
    .get('/', handler)
    .get('/named', endpoint({ operationId: 'getAB' }), handler)
    .query('/a-b', handler)
    .route('M-SEARCH', '/users/:id/*', handler);

  const { paths } = await generateDocument(router.getRoutes());
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).map((each) => each.operationId),
  );

  expect(ids.join(' ')).toBe(
    'getAB_2 postAB putAB deleteAB patchAB headAB optionsAB queryAB getAB_3 getAB_4 getRoot getAB ' +
      'msearchUsersByIdByPath',
  );
});

test('a method unknown to OpenAPI 3.1 becomes an extension', async () => {
  const router = createRouter()
    .query('/search', validates({ body: z.object({ text: z.string() }) }), handler)
    .route('PROPFIND', '/search', handler);

  const { paths } = await generateDocument(router.getRoutes());

  expect(Object.keys(paths['/search'] ?? {})).toEqual(['x-query', 'x-propfind']);
  expect(paths['/search']?.['x-query']?.requestBody?.content).toMatchObject({
    'application/json': { schema: { required: ['text'] } },
  });
});

test('a route of two routers is listed once, and a path has the parameter names of the first', async () => {
  const query = z.object({ a: z.string() });
  const one = createRouter().get('/u/:id', validates({ query }), handler);
  const params = z.object({ name: z.uuid() });
  const two = createRouter()
    .get('/u/:id', handler)
    .put('/u/:name', validates({ params }), handler)
    .post('/u/', handler);

  const { paths } = await generateDocument([one, one, two].flatMap((router) => router.getRoutes()));
  const reversed = await generateDocument([two, one].flatMap((router) => router.getRoutes()));

  expect(Object.keys(reversed.paths)).toEqual(['/u/{id}', '/u/']);
  expect(Object.keys(paths)).toEqual(['/u/{id}', '/u/']);
  expect(Object.keys(paths['/u/{id}'] ?? {})).toEqual(['get', 'put']);
  expect(paths['/u/{id}']?.get?.parameters).toMatchObject([{ name: 'id' }, { name: 'a' }]);
  expect(paths['/u/{id}']?.put?.parameters).toMatchObject([
    { name: 'id', in: 'path', schema: { format: 'uuid' } },
  ]);
});

test.each([
  [
    'parameter names',
    [createRouter().get('/u/:id', handler), createRouter().get('/u/:name', handler)],
    "Cannot document GET /u/:name: /u/:id is already GET /u/{id} in the document; exclude one of them with endpoint({ visibility: 'internal' })",
  ],
  [
    'a parameter and a wildcard',
    [createRouter().get('/u/:id', handler).get('/u/*', handler)],
    'Cannot document GET /u/*: /u/:id is already GET /u/{id} in the document',
  ],
  [
    'the handler',
    ['One', 'Two'].map((summary) => createRouter().get('/u', endpoint({ summary }), handler)),
    'Cannot document GET /u: two routers have this route, and the second never runs; remove one of them',
  ],
  [
    'the schema of the query',
    [z.object({ a: z.string() }), z.object({ b: z.string() })].map((query) =>
      createRouter().get('/u', validates({ query }), handler),
    ),
    'Cannot document GET /u: two routers have this route, and the second never runs; remove one of them',
  ],
  [
    'the path, but not the operationId',
    [
      createRouter()
        .get('/a', endpoint({ operationId: 'read' }), handler)
        .get('/b', endpoint({ operationId: 'read' }), handler),
    ],
    'Cannot document GET /b: its operationId "read" is that of GET /a',
  ],
])('routes that differ in %s contradict each other', async (_what, routers, message) => {
  const routes = routers.flatMap((router) => router.getRoutes());

  await expect(generateDocument(routes)).rejects.toThrow(message);
});

test('validate() documents query, path and header parameters, one per property', async () => {
  const validation = {
    params: z.object({ id: z.uuid().describe('Which'), '*': z.string().max(9) }),
    query: z.object({ page: z.coerce.number().int().default(1), q: z.string().describe('Words') }),
    headers: z.object({
      'x-tenant': z.string(),
      ...{ accept: z.string(), 'content-type': z.string(), Authorization: z.string() },
    }),
  };

  const { paths } = await describeRoute('GET /u/:id/*', validates(validation));

  expect(paths['/u/{id}/{path}']?.get?.parameters).toMatchObject([
    { name: 'id', in: 'path', required: true, description: 'Which', schema: { format: 'uuid' } },
    { name: 'path', in: 'path', required: true, schema: { maxLength: 9 } },
    { name: 'page', in: 'query', required: false, schema: { type: 'integer', default: 1 } },
    { name: 'q', in: 'query', required: true, description: 'Words' },
    { name: 'x-tenant', in: 'header', required: true },
  ]);
});

test('the parameters of a union are those of all its alternatives, in the query and headers', async () => {
  const schema = v.variant('a', [
    v.object({ a: v.literal('x'), b: v.string() }),
    v.object({ a: v.literal('y'), c: v.string() }),
  ]);

  const validation = validates({ query: schema, headers: schema });
  const { operation } = await describeRoute('GET /q', validation);

  expect(operation.parameters?.map((each) => [each.in, each.name, each.required])).toEqual(
    ['query', 'header'].flatMap((place) => [
      [place, 'a', true],
      [place, 'b', false],
      [place, 'c', false],
    ]),
  );
});

test.each(['query', 'headers'])('%s of any names cannot be documented', async (part) => {
  const schema = z.record(z.string(), z.string());

  await expect(describeRoute('GET /q', validates({ [part]: schema }))).rejects.toThrow(
    new TypeError(
      `Cannot document the ${part} of GET /q: the schema describes values of any name, expected an object with named properties`,
    ),
  );
});

test.each([
  ['a definition', '#/$defs/Page'],
  ['a part of a definition', '#/$defs/Lists/properties/page'],
])('a query schema that refers to %s documents its properties', async (_what, $ref) => {
  const Page = { properties: { offset: { type: 'integer' } }, required: ['offset'] };
  const query = { allOf: [{ $ref }], $defs: { Page, Lists: { properties: { page: Page } } } };

  const { operation } = await describeRoute('GET /q', validates({ query }));

  expect(operation.parameters).toEqual([
    { name: 'offset', in: 'query', required: true, schema: { type: 'integer' } },
  ]);
});

test('request bodies use the input of a schema, responses the output', async () => {
  const schema = z.object({ size: z.string().default('m') });
  const responses = { 201: schema, 204: schema, 302: undefined };

  const { operation } = await describeRoute(
    'POST /u',
    endpoint({ responses }),
    validates({ body: schema }),
  );

  expect(operation.requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { properties: { size: { default: 'm' } } } } },
  });
  expect(operation.requestBody?.content['application/json']?.schema).not.toHaveProperty('required');
  expect(operation.responses).toMatchObject({
    201: {
      description: 'Created',
      content: { 'application/json': { schema: { required: ['size'] } } },
    },
  });
  expect(operation.responses['204']).toEqual({ description: 'No Content' });
  expect(operation.responses['302']).toEqual({ description: 'Found' });
  expect(Object.keys(operation.responses).join(' ')).toBe('201 204 302 400 405 413 415 500');
});

const THROWING = {
  '~standard': {
    version: 1,
    vendor: 'own',
    validate() {
      throw new Error('No value');
    },
    jsonSchema: { input: () => ({ properties: { name: { type: 'string' } } }) },
  },
};

test.each([
  ['z.object', z.object({ name: z.string() }), true],
  ['optional', z.object({ name: z.string() }).optional(), false],
  ['JSON Schema', { type: 'object', properties: { name: { type: 'string' } } }, true],
  ['a validator that throws', THROWING, true],
] as const)('a body is required unless its schema accepts none: %s', async (_, body, required) => {
  const { operation } = await describeRoute('PUT /u', validates({ body }));

  const schema = { properties: { name: { type: 'string' } } };
  expect(operation.requestBody).toMatchObject({
    required,
    content: { 'application/json': { schema } },
  });
});

test('a body that is parsed but not validated is untyped; methods without a body have none', async () => {
  const parsed = withMetadata({ body: { mediaTypes: ['application/json'], limit: 1 } });

  const put = await describeRoute('PUT /u', parsed);
  const get = await describeRoute('GET /u', parsed);

  expect(put.operation.requestBody).toEqual({
    required: false,
    content: { 'application/json': { schema: {} } },
  });
  expect(Object.keys(put.operation.responses).join(' ')).toBe('400 405 413 415 500 2XX');
  expect(get.operation).not.toHaveProperty('requestBody');
});

test.each([
  [['application/merge-patch+json', 'application/json'], undefined],
  [['application/json', 'application/*+json'], ['application/json']],
  [['application/*+json'], ['application/json']],
])(
  'a body with the types %j is documented for each valid media type',
  async (mediaTypes, described) => {
    const { operation } = await describeRoute('PATCH /u', withMetadata({ body: { mediaTypes } }));

    expect(Object.keys(operation.requestBody?.content ?? {})).toEqual(described ?? mediaTypes);
  },
);

const PROBLEM = { $ref: '#/components/schemas/Problem' };

const contentOf = (response: unknown) =>
  (response as Response).content?.['application/problem+json']?.schema;

test('the errors of a route are shared problems with their codes', async () => {
  const layer = withMetadata({
    rateLimit: [{ headers: 'draft-6' }],
    responses: { 403: {} },
    errors: [{ status: 409, code: 'LOCKED' }],
  });
  const declared = endpoint({ errors: { 409: ['NAME_TAKEN', 'FROZEN'] }, security: [{ t: [] }] });

  const { operation, components } = await describeRoute('PUT /u/:id', layer, declared);

  const errors = Object.entries(operation.responses).filter(([status]) => /^[45]/.test(status));
  const documented = errors.map(([status, response]) => {
    const name = (response as Reference).$ref.replace('#/components/responses/', '');
    return [status, contentOf(components.responses?.[name])];
  });
  const problemOf = (...codes: string[]) => ({
    allOf: [PROBLEM, { properties: { code: { type: 'string', enum: codes } } }],
  });
  expect(Object.fromEntries(documented)).toEqual({
    400: problemOf('BAD_REQUEST'),
    401: problemOf('UNAUTHORIZED'),
    403: problemOf('FORBIDDEN'),
    404: problemOf('NOT_FOUND'),
    405: problemOf('METHOD_NOT_ALLOWED'),
    409: problemOf('FROZEN', 'LOCKED', 'NAME_TAKEN'),
    429: problemOf('RATE_LIMITED'),
    500: problemOf('INTERNAL_ERROR'),
  });
  expect(components.securitySchemes).toEqual({ t: { type: 'http', scheme: 'bearer' } });
  expect(components.responses?.TooManyRequests).toMatchObject({ description: 'Too many requests' });
});

test('a code with members is an alternative, with the members beside those of every problem', async () => {
  const members = z.object({ email: z.email(), tries: z.int().optional() });
  const taken = endpoint({ errors: { 409: { EMAIL_TAKEN: members, FROZEN: true, A: true } } });

  const { components } = await describeRoute('PUT /u', taken);

  expect(contentOf(components.responses?.Conflict)).toEqual({
    oneOf: [
      { allOf: [PROBLEM, { properties: { code: { type: 'string', enum: ['A', 'FROZEN'] } } }] },
      {
        allOf: [
          PROBLEM,
          {
            required: ['email'],
            properties: {
              code: { type: 'string', enum: ['EMAIL_TAKEN'] },
              email: expect.objectContaining({ type: 'string', format: 'email' }),
              tries: expect.objectContaining({ type: 'integer' }),
            },
          },
        ],
      },
    ],
  });
});

test('a single code with members has no alternatives', async () => {
  const members = z.object({ by: z.string() }).meta({ id: 'Lock' });
  const locked = endpoint({ errors: { 423: { LOCKED: members } } });

  const { components } = await describeRoute('PUT /u', locked);

  expect(contentOf(components.responses?.Locked)).toMatchObject({
    allOf: [PROBLEM, { required: ['by'], properties: { by: { type: 'string' } } }],
  });
});

test('an error with a schema in endpoint() has this schema', async () => {
  const schema = z.object({ error: z.string() });

  const { operation } = await describeRoute('GET /u', endpoint({ responses: { 401: schema } }));

  expect(operation.responses['401']).toMatchObject({
    content: { 'application/json': { schema: { required: ['error'] } } },
  });
});

test('a limiter that counts only some statuses adds its headers to these and to 429', async () => {
  const limit = rateLimit({ countOnly: [202, 401] });

  const { operation, components } = await describeRoute(
    'GET /u',
    limit,
    endpoint({ responses: { 200: {}, 202: {} } }),
  );
  const responses = operation.responses as Record<string, Response>;
  const limited = components.responses?.TooManyRequests as Response;

  expect(responses['200']?.headers).toBeUndefined();
  expect(Object.keys(responses['202']?.headers ?? {})).toContain('RateLimit-Limit');
  const names = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
  expect(Object.keys(limited.headers ?? {})).toEqual(['Retry-After', ...names]);
});

test('of several limiters on one route the document contains all limits and headers', async () => {
  const all = rateLimit({ name: 'all', max: 1_000, window: '1h', headers: 'draft-10' });
  const tiers = { free: { max: 5, window: '1m' }, pro: { max: 50, window: '1m' } };
  const byTier = tieredRateLimit({ tiers, tierResolver: () => 'free' });

  const { operation, components } = await describeRoute('GET /reports', all, byTier);
  const limited = components.responses?.TooManyRequests as Response;
  const success = operation.responses['2XX'] as Response;

  expect(components.responses?.MethodNotAllowed).toEqual({
    description: 'The path does not allow this method',
    headers: { Allow: { $ref: '#/components/headers/Allow' } },
    content: expect.anything(),
  });
  expect(limited.description).toBe(
    'Too many requests. Limits: `all` (1000 per 3600 s); `free` (5 per 60 s) or `pro` (50 per 60 s)',
  );
  expect(Object.keys(success.headers ?? {})).toEqual([
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
    'RateLimit-Policy',
    'RateLimit',
  ]);
});

test('middleware describes headers and media types of responses', async () => {
  const mediaTypes = ['text/csv', 'text/html'];
  const rows = { description: 'Rows', headers: { ETag: 'The version' }, mediaTypes };

  const { operation, components } = await describeRoute(
    'GET /r',
    withMetadata({ responses: { 200: rows } }),
  );

  expect(operation.responses['200']).toEqual({
    description: 'Rows',
    headers: { ETag: { $ref: '#/components/headers/ETag' } },
    content: { 'text/csv': { schema: {} }, 'text/html': { schema: {} } },
  });
  expect(components.headers?.ETag).toEqual({
    description: 'The version',
    schema: { type: 'string' },
  });
});

test('a schema describes JSON; other media types are text', async () => {
  const mediaTypes = ['application/ld+json', 'text/html', 'a/json-seq'];

  const { operation } = await describeRoute(
    'GET /r',
    endpoint({ responses: { 200: z.object({ id: z.string() }) } }),
    withMetadata({ responses: { 200: { mediaTypes } } }),
  );

  expect(operation.responses['200']).toMatchObject({
    content: {
      'application/ld+json': { schema: { required: ['id'] } },
      'text/html': { schema: { type: 'string' } },
      'a/json-seq': { schema: { type: 'string' } },
    },
  });
});

test('a schema with a name is shared, and its second form is named after its direction', async () => {
  const user = z
    .object({ id: z.string(), role: z.string().default('member') })
    .meta({ id: 'User' });
  const size = z.object({ size: z.string().default('m') }).meta({ id: 'Size' });
  const router = createRouter()
    .get('/a', endpoint({ responses: { 200: z.object({ data: user }) } }), handler)
    .get('/b', endpoint({ responses: { 200: z.array(user) } }), handler)
    .post('/b', validates({ body: user }), handler)
    .put('/c', validates({ body: z.array(size) }), endpoint({ responses: { 200: size } }), handler);

  const { paths, components } = await generateDocument(router.getRoutes());

  expect(Object.keys(components.schemas ?? {}).join(' ')).toBe(
    'User Problem UserInput Size SizeOutput',
  );
  expect(JSON.stringify(paths)).not.toContain('$defs');
  expect(paths['/b']?.get?.responses['200']).toMatchObject({
    content: { 'application/json': { schema: { items: { $ref: '#/components/schemas/User' } } } },
  });
  expect(paths['/b']?.post?.requestBody?.content['application/json']?.schema).toEqual({
    $ref: '#/components/schemas/UserInput',
  });
});

test('a recursive schema without a name is named after its operation and its place', async () => {
  const tree = (place: string) => ({ properties: { [place]: { items: { $ref: '#' } } } });
  const parameters = { params: tree('id'), query: tree('q'), headers: tree('x-tree') };

  const { operation, components } = await describeRoute(
    'PUT /trees/:id',
    endpoint({ responses: { 200: tree('response') } }),
    validates({ ...parameters, body: tree('body') }),
  );

  expect(Object.keys(components.schemas ?? {}).join(' ')).toBe(
    'putTreesByIdParams putTreesByIdQuery putTreesByIdHeaders putTreesByIdBody putTreesByIdResponse Problem',
  );
  expect(operation.parameters?.map(({ schema }) => schema)).toEqual(
    ['Params', 'Query', 'Headers'].map((name) => ({
      items: { $ref: `#/components/schemas/putTreesById${name}` },
    })),
  );
});

test('guards add their security schemes, and the option replaces them by name', async () => {
  const basic = { type: 'http', scheme: 'basic' };
  const cookie = { type: 'apiKey', in: 'cookie', name: 'session' };
  const key = { type: 'apiKey', in: 'header', name: 'X-Key' };
  const router = createRouter()
    .get('/a', withMetadata({ security: [{ basic: [] }], securitySchemes: { basic } }), handler)
    .get(
      '/b',
      withMetadata({ securitySchemes: { cookie } }),
      withMetadata({ security: [{ key: [] }], securitySchemes: { key: cookie } }),
      handler,
    );

  const document = await generateDocument(router.getRoutes(), { securitySchemes: { key } });

  expect(document.components.securitySchemes).toEqual({ basic, cookie, key });
});

test('generateDocument() rejects an unknown option', async () => {
  await expect(generateDocument([], { excludes: [] } as object)).rejects.toThrow(
    'generateDocument() has no option "excludes"; did you mean "exclude"?',
  );
});
