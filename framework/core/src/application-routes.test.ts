import { describe, expect, test } from 'vitest';

import { type Application, createApp } from './application.ts';
import type { Middleware } from './context.ts';
import { annotate } from './middleware.ts';
import { createRouter } from './router/router.ts';
import { quiet, request } from './testing/index.ts';

/** Middleware that adds `name` to the header `Trace`. */
function trace(name: string): Middleware {
  return (ctx, next) => {
    ctx.append('Trace', name);
    return next();
  };
}

async function get(app: Application, path: string, method = 'GET') {
  const response = await request(app, path, { method });
  return {
    status: response.status,
    trace: response.headers.get('trace'),
    text: await response.text(),
  };
}

test.each([
  ['get', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['options', 'OPTIONS'],
  ['query', 'QUERY'],
  ['all', 'PATCH'],
] as const)('app.%s registers a route for %s', async (name, method) => {
  const app = createApp()[name]('/users/:id', (ctx) => `${ctx.method} ${ctx.params.id}`);

  expect(await get(app, '/users/7', method)).toMatchObject({ status: 200, text: `${method} 7` });
  expect(await get(app, '/other', method)).toMatchObject({ status: 404 });
});

test('app.head takes precedence over app.get', async () => {
  const app = createApp()
    .get('/', () => 'body')
    .head('/', (ctx) => {
      ctx.status = 202;
    });

  expect(await get(app, '/', 'HEAD')).toMatchObject({ status: 202 });
});

describe('the order of middleware and routes', () => {
  test('middleware runs for the routes that were added after it', async () => {
    const app = createApp()
      .use(trace('first'))
      .get('/a', () => 'a')
      .use(trace('second'))
      .get('/b', () => 'b')
      .use(trace('last'));

    expect(await get(app, '/a')).toMatchObject({ text: 'a', trace: 'first' });
    expect(await get(app, '/b')).toMatchObject({ text: 'b', trace: 'first, second' });
    expect(await get(app, '/c')).toMatchObject({ status: 404, trace: 'first, second, last' });
  });

  test('middleware at a prefix runs only for the paths under it', async () => {
    const app = createApp()
      .use('/a', trace('a'))
      .get('/*', () => 'any');

    expect(await get(app, '/a/b')).toMatchObject({ text: 'any', trace: 'a' });
    expect(await get(app, '/b')).toMatchObject({ text: 'any', trace: null });
  });

  test('the most specific route wins, also if a route before the middleware matches', async () => {
    const app = createApp()
      .get('/users/:id', () => 'any')
      .get('/*', () => 'wildcard')
      .use(trace('guard'))
      .get('/users/me', () => 'me');

    expect(await get(app, '/users/me')).toMatchObject({ text: 'me', trace: 'guard' });
    expect(await get(app, '/users/7')).toMatchObject({ text: 'any', trace: null });
    expect(await get(app, '/other')).toMatchObject({ text: 'wildcard', trace: null });
  });

  test('a handler that calls next() passes to the middleware after it', async () => {
    const app = createApp()
      .get('/users/:id', (_ctx, next) => next())
      .use(trace('after'))
      .get('/users/me', () => 'me')
      .use((ctx) => ctx.send(`route ${ctx.route?.path}`));

    expect(await get(app, '/users/7')).toMatchObject({
      text: 'route /users/:id',
      trace: 'after',
    });
  });

  test('a mounted router runs at its position: before or after the direct routes', async () => {
    const users = createRouter().get('/:id', (ctx) => `router ${ctx.params.id}`);
    const before = createApp()
      .route('/users', users)
      .get('/users/me', () => 'direct');
    const after = createApp()
      .get('/users/me', () => 'direct')
      .route('/users', users);

    expect(await get(before, '/users/me')).toMatchObject({ text: 'router me' });
    expect(await get(after, '/users/me')).toMatchObject({ text: 'direct' });
    expect(await get(after, '/users/7')).toMatchObject({ status: 200, text: 'router 7' });
  });

  test('a route that a plugin adds late runs at the position of the plugin', async () => {
    const app = createApp()
      .use(trace('before'))
      .get('/a', () => 'a')
      .plugin(async (app) => {
        app.use(trace('plugin'));
        await Promise.resolve();
        app.get('/late', () => 'late');
      })
      .use(trace('after'))
      .get('/b', () => 'b');

    expect(await get(app, '/late')).toMatchObject({ text: 'late', trace: 'before, plugin' });
    expect(await get(app, '/b')).toMatchObject({ trace: 'before, plugin, after' });
  });

  test('a route that is added after the first request is served', async () => {
    const app = createApp().get('/a', () => 'a');
    await get(app, '/a');

    app.get('/b', () => 'b');
    app.use(trace('new')).get('/c', () => 'c');

    expect(await get(app, '/b')).toMatchObject({ text: 'b', trace: null });
    expect(await get(app, '/c')).toMatchObject({ text: 'c', trace: 'new' });
  });
});

test.each<readonly [string, (app: Application) => unknown]>([
  ['next to it', (app) => app.get('/users', () => 'again')],
  ['with other case and slash', (app) => app.get('/Users/', () => 'again')],
  ['after middleware', (app) => app.use(trace('between')).get('/users', () => 'again')],
  ['with all()', (app) => app.use(trace('between')).all('/users', () => 'again')],
])('the same route %s is a conflict and changes nothing', async (_, register) => {
  const app = createApp().get('/users', () => 'first');

  expect(() => register(app)).toThrow('Route conflict: GET /users is already registered');

  expect(await get(app, '/users')).toMatchObject({ text: 'first' });
  expect(app.getRoutes()).toHaveLength(1);
});

test('middleware that needs another path parameter makes the registration fail as a whole', () => {
  const needsId = annotate<Middleware>((_ctx, next) => next(), {
    missingPathParam: (names) => (names.includes('id') ? undefined : 'id'),
  });
  const app = createApp();

  expect(() => app.get('/users/:user', needsId, () => 'never')).toThrow(
    'Cannot register GET /users/:user: "id" must be a parameter of the path',
  );
  expect(app.getRoutes()).toEqual([]);
});

test('app.allowedMethods responds for the direct routes of all positions', async () => {
  const app = createApp({ logger: quiet })
    .get('/users', () => 'list')
    .use(trace('between'))
    .post('/users', () => 'created');
  app.use(app.allowedMethods());

  const options = await request(app, '/users', { method: 'OPTIONS' });
  const other = await request(app, '/users', { method: 'DELETE' });

  expect([options.status, options.headers.get('allow')]).toEqual([200, 'GET, HEAD, POST']);
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
});

test('app.getRoutes returns the direct routes of all positions in order', () => {
  const app = createApp()
    .get('/b', () => 'b')
    .use(trace('between'))
    .post('/a', () => 'a')
    .route(
      '/mounted',
      createRouter().get('/', () => 'no direct route'),
    );

  expect(app.getRoutes().map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /b',
    'POST /a',
  ]);
});
