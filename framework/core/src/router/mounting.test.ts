import { type Application, createApp, type Middleware } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { endpoint } from './endpoint.ts';
import { createRouter } from './router.ts';
import { echo, get, pathsOf, serve } from './testing/echo.ts';
import type { AnyRouter } from './types.ts';

const handler = () => {};
const createQuietApp = () => createApp({ logger: quiet });

describe('mounting', () => {
  test('two routers under one prefix finds the route of the second', async () => {
    const app = createQuietApp()
      .route('/api', createRouter().get('/first', echo))
      .route('/api', createRouter().get('/second', echo));

    expect((await get(app, '/api/second')).status).toBe(200);
    expect((await get(app, '/api/third')).status).toBe(404);
  });

  test('lets later middleware respond to unmatched requests, with the status 404 that the router set', async () => {
    const app = serve(createRouter().get('/a', echo)).use((ctx) => ctx.send(`after ${ctx.status}`));

    const response = await request(app, '/b');

    expect(response.status).toBe(404);
    expect(await response.text()).toBe('after 404');
  });

  test('a matching route keeps the status 404 that a middleware before it assigned', async () => {
    const app = createQuietApp()
      .use((ctx, next) => {
        ctx.status = 404;
        return next();
      })
      .use(createRouter().get('/a', echo).routes());

    expect((await request(app, '/a')).status).toBe(404);
  });

  test('a second router does not change the status of a request that the first one matched', async () => {
    const app = createQuietApp()
      .use(
        createRouter()
          .get('/a', (_ctx, next) => next())
          .routes(),
      )
      .use(createRouter().get('/b', echo).routes());

    expect((await request(app, '/a')).status).toBe(204);
  });

  test.each(['/apix/1', '/ap/1', '/api1', '/1'])(
    'under /api matches whole segments only: %s is 404',
    async (path) => {
      const app = createQuietApp().route('/api', createRouter().get('/:id', echo));

      expect((await get(app, path)).status).toBe(404);
    },
  );

  test.each(
    Object.entries<(router: ReturnType<typeof createRouter>) => Application>({
      'app.route': (router) => createQuietApp().route('/a/b', router),
      'router.mount': (router) => serve(createRouter().mount('/a/b', router)),
      'router.use': (router) => serve(createRouter().use('/a/b', router)),
      'routes(prefix)': (router) => createQuietApp().use(router.routes('/a/b')),
      'a prefix option': (router) => serve(createRouter({ prefix: '/a' }).mount('/b', router)),
      'two mounts': (router) =>
        serve(createRouter().mount('/a', createRouter().mount('/b', router))),
      'a group': (router) =>
        serve(createRouter().group('/a', (group) => void group.mount('/b', router))),
      'an empty path': (router) => serve(createRouter({ prefix: '/a/b' }).mount('', router)),
      'a trailing slash': (router) => createQuietApp().route('/a/b/', router),
      'app.route of an empty prefix': (router) =>
        createQuietApp().route('', createRouter().mount('/a/b', router)),
    }),
  )('with %s serves the routes under /a/b', async (_, mount) => {
    const app = mount(createRouter().get('/', echo).get('/:id', echo));

    expect((await get(app, '/a/b')).body).toEqual({ route: '/a/b', params: {} });
    expect((await get(app, '/a/b/7')).body).toEqual({ route: '/a/b/:id', params: { id: '7' } });
    expect((await get(app, '/a/7')).status).toBe(404);
  });

  test('concatenates the prefixes of nested groups and runs their middleware outermost first', async () => {
    const step =
      (name: string): Middleware =>
      (ctx, next) => {
        ctx.append('X-Order', name);
        return next();
      };
    const router = createRouter({ prefix: '/root' }).use(step('router'));
    router.group('/api', [step('api')], (api) => {
      api.group('/v1', step('v1'), (v1) => void v1.get('/users/:id', step('route'), echo));
    });

    const response = await request(serve(router), '/root/api/v1/users/7');

    expect(response.headers.get('x-order')).toBe('router, api, v1, route');
    expect(await response.json()).toMatchObject({ route: '/root/api/v1/users/:id' });
  });

  test('of one router at two paths serves both', async () => {
    const router = createRouter().get('/users', echo);
    const app = createQuietApp().route('/v1', router).route('/v2', router);

    expect((await get(app, '/v1/users')).body).toMatchObject({ route: '/v1/users' });
    expect((await get(app, '/v2/users')).body).toMatchObject({ route: '/v2/users' });
    expect(pathsOf(router)).toEqual(['/v1/users', '/v2/users']);
  });

  test('applies routes and middleware that are added later', async () => {
    const inner = createRouter().get('/early', echo);
    const app = createQuietApp().route('/api', createRouter().mount('/inner', inner));
    await get(app, '/api/inner/early');
    inner.use((ctx, next) => {
      ctx.set('X-Late', 'yes');
      return next();
    });
    inner.get('/late', echo);
    inner.group('/group', (group) => void group.get('/late', echo));

    for (const path of ['/api/inner/early', '/api/inner/late', '/api/inner/group/late']) {
      const response = await request(app, path);
      expect(response.status, path).toBe(200);
      expect(response.headers.get('x-late'), path).toBe('yes');
    }
  });

  test('keeps full paths and metadata in getRoutes()', () => {
    const inner = createRouter({ prefix: '/v1' });
    inner.use(endpoint({ tags: ['all'] }));
    inner.get('/users/:id', endpoint({ summary: 'Reads a user' }), handler);
    inner.get('/health', handler);
    const outer = createRouter().mount('/api', inner);

    expect(outer.getRoutes()).toEqual([
      {
        method: 'GET',
        path: '/api/v1/users/:id',
        metadata: { endpoint: { tags: ['all'], summary: 'Reads a user' } },
      },
      { method: 'GET', path: '/api/v1/health', metadata: { endpoint: { tags: ['all'] } } },
    ]);
    expect(inner.getRoutes()).toEqual(outer.getRoutes());
  });

  test('adds nothing of the outer router to getRoutes() of the inner one', () => {
    const inner = createRouter().get('/a', handler);
    const outer = createRouter().mount('/inner', inner).get('/b', handler);

    expect(pathsOf(inner)).toEqual(['/inner/a']);
    expect(pathsOf(outer)).toEqual(['/inner/a', '/b']);
  });

  test('applies the metadata of middleware at a path only to the routes under it', () => {
    const router = createRouter({ prefix: '/api' })
      .use('/admin', endpoint({ summary: 'For admins' }))
      .get('/admin/:id', handler)
      .get('/administration', handler);

    expect(router.getRoutes().map(({ metadata }) => metadata)).toEqual([
      { endpoint: { summary: 'For admins' } },
      {},
    ]);
  });

  test('on another router is not undone by reset()', () => {
    const child = createRouter();
    const other = createRouter().mount('/other', child);
    createRouter().mount('/reset', child).reset();
    child.get('/late', handler);

    expect(pathsOf(other)).toEqual(['/other/late']);
  });

  test.each([
    [{ caseSensitive: true }, '/A'],
    [{ strict: true }, '/a/'],
  ])('keeps the options %o in reset()', (options, other) => {
    const router = createRouter(options).reset().get('/a', handler);

    expect(router.match('GET', other)).toBeUndefined();
  });

  test('is undone by reset(), which also removes routes and middleware', async () => {
    const child = createRouter().get('/a', echo);
    const guard = vi.fn((_ctx, next) => next());
    const router = createRouter().use(guard).mount('/child', child).get('/b', echo);
    const app = createQuietApp().route('/api', router);

    router.reset().get('/b', echo);
    child.get('/late', echo);

    expect((await get(app, '/api/b')).body).toEqual({ route: '/api/b', params: {} });
    expect((await get(app, '/api/child/a')).status).toBe(404);
    expect((await get(app, '/api/child/late')).status).toBe(404);
    expect(guard).not.toHaveBeenCalled();
    expect(pathsOf(router)).toEqual(['/api/b']);
    expect(pathsOf(child)).toEqual(['/a', '/late']);
  });
});

const users = () => createRouter({ prefix: '/users' }).get('/:id', () => 'user');

/** What an application with `router` at `prefix` logs at start. */
async function warningsOf(prefix: string, router: AnyRouter): Promise<string[]> {
  const { logger, problems } = recordLog();
  const app = createApp({ logger }).route(prefix, router);
  await app.ready();
  await app.ready();
  return problems;
}

test.each<[string, string, AnyRouter, string]>([
  ['at its own prefix', '/users', users(), '/users'],
  ['in another case', '/Users/', users(), '/Users'],
  ['at a path that ends in its prefix', '/api/users', users(), '/api/users'],
  ['on another router', '/api', createRouter().mount('/users', users()), '/api/users'],
  [
    'in a group',
    '/',
    createRouter().group('/users', (group) => group.mount('/', users())),
    '/users',
  ],
])(
  'a router with a prefix that is mounted %s is logged once at start',
  async (_, at, router, path) => {
    expect(await warningsOf(at, router)).toEqual([
      `warn: A router with the prefix "/users" is mounted at "${path}": it serves ${path}/users; remove one of the two`,
    ]);
  },
);

test.each<[string, string, AnyRouter]>([
  ['its prefix is elsewhere', '/', users()],
  ['its prefix is "/"', '/', createRouter({ prefix: '/' }).get('/a', () => '')],
  ['its prefix begins the path', '/users/all', users()],
  ['the path ends in the same letters', '/old-users', users()],
  ['its routes begin with the path', '/users', createRouter().get('/users/:id', () => '')],
  ['its group has the path', '/users', createRouter().group('/users', (g) => g.get('/', () => ''))],
  [
    'case matters',
    '/Users',
    createRouter({ prefix: '/users', caseSensitive: true }).get('/', () => ''),
  ],
])('nothing is logged if %s', async (_, at, router) => {
  expect(await warningsOf(at, router)).toEqual([]);
});

test('a repeated prefix is served as it was registered', async () => {
  const app = createQuietApp().route('/users', users());

  expect((await request(app, '/users/users/7')).status).toBe(200);
});
