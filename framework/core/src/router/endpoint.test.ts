import { annotate, createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type EndpointOptions, endpoint } from './endpoint.ts';
import { createRouter } from './router.ts';

test('endpoint describes its route', async () => {
  const metadata = {
    summary: 'Reads a user',
    tags: ['users'],
    deprecated: true,
    visibility: 'internal',
    operationId: 'readUser',
    responses: { 200: { type: 'object', properties: { id: { type: 'string' } } } },
  } as const;
  const router = createRouter().get('/users/:id', endpoint(metadata), (ctx) =>
    ctx.json(ctx.params),
  );

  const response = await request(createApp({ logger: quiet }).use(router.routes()), '/users/7');

  expect(await response.json()).toEqual({ id: '7' });
  expect(router.getRoutes()).toEqual([
    { method: 'GET', path: '/users/:id', metadata: { endpoint: metadata } },
  ]);
});

test('endpoint separates schemas from descriptions, and describes what its handler reads', () => {
  const [item, query] = [z.object({ id: z.number() }), z.object({ page: z.string() })];
  const description = { description: 'An item', headers: { ETag: 'Its version' } };
  const described = endpoint({
    responses: { 200: { schema: item, ...description }, 304: {}, 404: item },
    reads: { query },
  });

  const [route] = createRouter()
    .get('/', described, () => ({ id: 7 }))
    .getRoutes();

  expect(route?.metadata).toEqual({
    endpoint: { responses: { 200: item, 304: undefined, 404: item } },
    responses: { 200: description, 304: {} },
    validation: { query },
  });
});

test.each([
  ['another scheme', [{ a: ['r'] }], [{ b: [] }], [{ a: ['r'], b: [] }]],
  ['the same scheme', [{ a: ['r'] }], [{ a: ['r', 'w'] }], [{ a: ['r', 'w'] }]],
  ['alternatives', [{ a: [] }], [{ a: ['r'] }, { b: [] }], [{ a: ['r'] }, { a: [], b: [] }]],
  ['equal alternatives', [{ a: [] }, { a: ['r'] }], [{ a: ['r'] }], [{ a: ['r'] }]],
  ['nothing', [{ a: [] }], [], [{ a: [] }]],
])('a route after a guard that requires %s requires both', (_, first, second, both) => {
  const guards = [first, second].map((security) =>
    annotate<Middleware>((_ctx, next) => next(), { security }),
  );
  const securityOf = (layers: readonly Middleware[]) =>
    createRouter()
      .route('GET', '/', ...layers, () => {})
      .getRoutes()[0]?.metadata.security;

  expect(securityOf(guards)).toEqual(both);
  expect(securityOf(guards.toReversed())).toEqual(both);
});

test('metadata of a group and its route is merged for validation and responses; otherwise the route takes precedence', () => {
  const pass: Middleware = (_ctx, next) => next();
  const guard = annotate((...args: Parameters<Middleware>) => pass(...args), {
    validation: { params: 'P', status: 400 },
    responses: { 401: {} },
    endpoint: { tags: ['users'] },
  });
  const check = annotate((...args: Parameters<Middleware>) => pass(...args), {
    validation: { body: 'B', status: 422 },
    responses: { 409: {} },
    endpoint: { summary: 'Changes a user' },
  });
  const router = createRouter().group('/users', guard, (group) => {
    group.put('/:id', check, (ctx) => ctx.json(ctx.params));
  });

  const [route] = router.getRoutes();

  expect(route?.metadata).toEqual({
    validation: { params: 'P', body: 'B', status: 422 },
    responses: { 401: {}, 409: {} },
    endpoint: { tags: ['users'], summary: 'Changes a user' },
  });
});

test('the options of endpoint() of a group apply to a route with its own; responses and tags are merged', () => {
  const all = {
    summary: 'Of the group',
    description: 'All users',
    tags: ['users', 'people'],
    deprecated: true,
    visibility: 'internal',
    security: [{ bearer: [] }],
    bodyTypes: ['text/csv'],
    responses: { 200: { type: 'string' }, 404: { type: 'object' } },
  } as const;
  const endpointOf = (own: EndpointOptions) =>
    createRouter()
      .group('/users', endpoint(all), (group) => {
        group.get('/:id', endpoint(own), () => 'x');
      })
      .getRoutes()[0]?.metadata.endpoint;

  expect(endpointOf({ operationId: 'read' })).toEqual({ ...all, operationId: 'read' });
  expect(
    endpointOf({
      summary: 'Of the route',
      tags: ['people', 'admin'],
      security: [],
      responses: { 200: { type: 'null' }, 201: { type: 'null' } },
    }),
  ).toEqual({
    ...all,
    summary: 'Of the route',
    tags: ['users', 'people', 'admin'],
    security: [],
    responses: { 200: { type: 'null' }, 201: { type: 'null' }, 404: { type: 'object' } },
  });
});

test('endpoint() rejects a schema with an unknown type, with its pointer', () => {
  const schema = { properties: { users: { items: { type: 'int' } } } };
  const reason =
    '"/properties/users/items/type" is "int", expected one of string, number, integer, boolean, object, array, null';
  const message = `Cannot read the schema of response 404 of endpoint(): ${reason}`;
  const error = new TypeError(message, { cause: new TypeError(reason) });

  expect(() => endpoint({ responses: { 404: schema } })).toThrow(error);
  expect(() => endpoint({ responses: { 404: { schema } } })).toThrow(error);
});

test.each<[object, string]>([
  ...[199, 600, 2000, 1200].map((status): [object, string] => [
    { [status]: {} },
    `responses "${status}" of endpoint(): expected a status from 200 to 599`,
  ]),
  [{ 200: { x: 1 } }, 'response 200 of endpoint() has no option "x"; its options: description,'],
  [{ 200: { mediaTypes: '' } }, 'of response 200 of endpoint(): expected a list of media types'],
  [{ 200: { schema: 7 } }, 'schema "7" of response 200 of endpoint(): expected a Standard Schema'],
  [{ 200: { id: z.int(), name: 'x' } }, 'of endpoint(): expected a schema; wrap a list of fields'],
])('endpoint({ responses: %o }) is rejected', (responses, message) => {
  expect(() => endpoint({ responses } as object)).toThrow(message);
});
