import { annotate, createApp, type Middleware } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { createRouter } from './create-router.ts';
import { endpoint } from './endpoint.ts';

const logger = { info() {}, warn() {}, error() {} };

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

  const response = await request(createApp({ logger }).use(router.routes()), '/users/7');

  expect(await response.json()).toEqual({ id: '7' });
  expect(router.getRoutes()).toEqual([
    { method: 'GET', path: '/users/:id', metadata: { endpoint: metadata } },
  ]);
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
    endpoint: { summary: 'Changes a user' },
  });
});

test.each<readonly [string, string, object]>([
  ['/type', 'int', { type: 'int' }],
  ['/type', 'text', { type: ['string', 'text'] }],
  [
    '/properties/users/items/anyOf/1/type',
    'int',
    { properties: { users: { items: { anyOf: [{ type: 'null' }, { type: 'int' }] } } } },
  ],
  ['/$defs/Id/type', 'uuid', { $ref: '#/$defs/Id', $defs: { Id: { type: 'uuid' } } }],
])('endpoint() rejects a schema whose %s is %s', (pointer, type, schema) => {
  const message = `Cannot read the schema of response 404 of endpoint(): "${pointer}" is "${type}", expected one of string, number, integer, boolean, object, array, null`;

  expect(() => endpoint({ responses: { 404: schema } })).toThrow(new TypeError(message));
  expect(() => endpoint({ responses: { 404: { schema } } })).toThrow(new TypeError(message));
});

test('endpoint() accepts a field with the name type', () => {
  const schema = { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] };

  expect(() => endpoint({ responses: { 200: schema } })).not.toThrow();
});
