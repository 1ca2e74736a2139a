import { json } from '@fw/body-parser';
import { controllersPlugin } from '@fw/controllers';
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

const router = () => createRouter() as unknown as Middleware;

test.each(
  Object.entries<() => unknown>({
    'Cannot use controllersPlugin: call it, as in controllersPlugin()': () =>
      createApp().plugin(controllersPlugin as unknown as Plugin),
    'Cannot use a plugin as middleware: use app.plugin(plugin)': () =>
      createApp().use(controllersPlugin({ router: createRouter(), controllers: [] }) as never),
    'Cannot use middleware as a plugin: use app.use(middleware)': () =>
      createApp().plugin(json() as unknown as Plugin),
    'Cannot use a router: use app.route(prefix, router) or router.routes()': () =>
      createApp().use(router()),
    'Cannot register GET /users with a router: use app.route(prefix, router) or router.routes()':
      () => createRouter().get('/users', router()),
    'Cannot mount a function at "/api": expected a router': () =>
      createApp().route('/api', createRouter as never),
    'Cannot mount "undefined" at "/api": expected a router': () =>
      createApp().route('/api', undefined as never),
    "Cannot mount a router: expected a prefix first, as in app.route('/', router)": () =>
      createApp().route(createRouter() as never, undefined as never),
    'Cannot use "/x" without middleware: expected a function after it': () => createApp().use('/x'),
    'Cannot use a list: pass each middleware as an argument, as in ...list': () =>
      createApp().use([json()] as unknown as Middleware),
  }),
)('a mistake throws: %s', (message, register) => {
  expect(register).toThrow(new TypeError(message));
});
