import { json } from '@fw/body-parser';
import { Controller, controllersPlugin, Get } from '@fw/controllers';
import { openapi } from '@fw/openapi';
import { rateLimit, tieredRateLimit } from '@fw/rate-limit';
import { validate } from '@fw/validation';
import { describe, expect, test } from 'vitest';

import {
  compose,
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  type Middleware,
  notFoundHandler,
  type Plugin,
} from './index.ts';

const factories = {
  json,
  errorHandler,
  notFoundHandler,
  validate,
  rateLimit,
  tieredRateLimit,
  openapi,
  endpoint,
  createRouter,
};

describe.each(Object.entries(factories))('%s without a call', (name, factory) => {
  const middleware = factory as unknown as Middleware;
  const handler: Middleware = (ctx) => ctx.send('');

  test.each<readonly [string, string, () => unknown]>([
    ['app.use', 'Cannot use', () => createApp().use(middleware)],
    ['app.use below a prefix', 'Cannot use', () => createApp().use('/api', handler, middleware)],
    ['outermost', 'Cannot compose', () => createApp({ outermost: middleware })],
    ['compose', 'Cannot compose', () => compose([handler, middleware])],
    ['router.use', 'Cannot use', () => createRouter().use(middleware)],
    ['router.use below a path', 'Cannot use', () => createRouter().use('/api', middleware)],
    ['a group', 'Cannot use', () => createRouter().group('/api', middleware, () => {})],
    [
      'a route',
      'Cannot register GET /users with',
      () => createRouter().get('/users', middleware, handler),
    ],
    [
      'a handler',
      'Cannot register GET /users with',
      () => createRouter().get('/users', middleware),
    ],
  ])('throws in %s', (_, action, register) => {
    expect(register).toThrow(new TypeError(`${action} ${name}: call it, as in ${name}()`));
  });
});

test('a middleware factory of a controller that was not called rejects at start-up', async () => {
  class Users {
    list() {
      return [];
    }
  }
  Get('/', json as unknown as Middleware)(Users.prototype, 'list');
  Controller('/users')(Users);
  const app = createApp().plugin(
    controllersPlugin({ router: createRouter(), controllers: [Users] }),
  );

  await expect(app.ready()).rejects.toThrow(
    new TypeError('Cannot register GET /users with json: call it, as in json()'),
  );
});

test('controllersPlugin without a call throws in app.plugin', () => {
  expect(() => createApp().plugin(controllersPlugin as unknown as Plugin)).toThrow(
    new TypeError('Cannot use controllersPlugin: call it, as in controllersPlugin()'),
  );
});

test.each<readonly [string, (router: Middleware) => unknown]>([
  ['app.use', (router) => createApp().use(router)],
  ['app.use below a prefix', (router) => createApp().use('/api', router)],
])('a router in %s throws and names the ways to mount it', (_, use) => {
  expect(() => use(createRouter() as unknown as Middleware)).toThrow(
    new TypeError('Cannot use a router: use app.route(prefix, router) or router.routes()'),
  );
});

test.each<readonly [string, unknown, string]>([
  ['createRouter without a call', createRouter, 'a function'],
  ['the middleware of a router', createRouter().routes(), 'a function'],
  ['undefined', undefined, '"undefined"'],
])('app.route with %s throws', (_, router, given) => {
  expect(() => createApp().route('/api', router as ReturnType<typeof createRouter>)).toThrow(
    new TypeError(`Cannot mount ${given} at "/api": expected a router`),
  );
});

test('app.route without a prefix throws and shows the call', () => {
  expect(() => createApp().route(createRouter() as never, undefined as never)).toThrow(
    new TypeError("Cannot mount a router: expected a prefix first, as in app.route('/', router)"),
  );
});

test('a router as the handler of a route throws and names the ways to mount it', () => {
  const router = createRouter() as unknown as Middleware;

  expect(() => createRouter().get('/users', router)).toThrow(
    new TypeError(
      'Cannot register GET /users with a router: use app.route(prefix, router) or router.routes()',
    ),
  );
});

test.each<readonly [string, () => unknown, string]>([
  [
    'a plugin in app.use',
    () =>
      createApp().use(
        controllersPlugin({ router: createRouter(), controllers: [] }) as unknown as Middleware,
      ),
    'Cannot use a plugin as middleware: use app.plugin(plugin)',
  ],
  [
    'middleware in app.plugin',
    () => createApp().plugin(json() as unknown as Plugin),
    'Cannot use middleware as a plugin: use app.use(middleware)',
  ],
  [
    'a prefix without middleware in app.use',
    () => createApp().use('/x'),
    'Cannot use "/x" without middleware: expected a function after it',
  ],
  [
    'a list in app.use',
    () => createApp().use([json()] as unknown as Middleware),
    'Cannot use a list: pass each middleware as an argument, as in ...list',
  ],
])('%s throws and names the fix', (_, register, message) => {
  expect(register).toThrow(new TypeError(message));
});
