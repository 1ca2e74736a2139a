import { type Application, createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { errorHandler, MethodNotAllowedError, notFoundHandler } from '@fw/errors';
import { describe, expect, test } from 'vitest';
import { createRouter } from './router.ts';
import type { AnyRouter, Router } from './types.ts';

const respond: Middleware = (ctx) => ctx.json({ method: ctx.method });

/** An application as the documentation describes it. */
function serve(
  router: AnyRouter & Pick<Router, 'allowedMethods'>,
  prefix = '',
  middleware: readonly Middleware[] = [errorHandler()],
): Application {
  return createApp({ logger: quiet })
    .use(...middleware, router.routes(prefix), router.allowedMethods())
    .use(notFoundHandler());
}

const users = () => createRouter().get('/users', respond).post('/users', respond);

describe('a known path with an unregistered method', () => {
  test('gets 405 with Allow in order of registration, HEAD after GET', async () => {
    const response = await request(serve(users()), '/users', { method: 'DELETE' });

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      detail: 'This path does not take DELETE',
    });
  });

  test('throws a MethodNotAllowedError that earlier middleware can catch', async () => {
    let caught: unknown;
    const watch: Middleware = (_ctx, next) =>
      next().catch((error: unknown) => {
        caught = error;
        throw error;
      });

    await request(serve(users(), '', [watch]), '/users', { method: 'DELETE' });

    expect(caught).toBeInstanceOf(MethodNotAllowedError);
    expect(caught).toMatchObject({ status: 405, headers: { Allow: 'GET, HEAD, POST' } });
  });

  test('lists each method once, also HEAD without GET', async () => {
    const router = createRouter()
      .head('/a', respond)
      .put('/a', respond)
      .get('/a', respond)
      .head('/b', respond);

    const several = await request(serve(router), '/a', { method: 'POST' });
    const withoutGet = await request(serve(router), '/b');

    expect(several.headers.get('allow')).toBe('PUT, GET, HEAD');
    expect(withoutGet.headers.get('allow')).toBe('HEAD');
  });

  test.each([
    ['/users/me', 'GET, HEAD'],
    ['/USERS/me/', 'GET, HEAD'],
    ['/users/7', 'PATCH, DELETE'],
    ['/users/7/x', 'PUT'],
  ])('Allow of %s lists the methods of its most specific route: %s', async (path, methods) => {
    const router = createRouter()
      .patch('/users/:id', respond)
      .delete('/users/:id', respond)
      .get('/users/me', respond)
      .put('/users/*', respond);
    const allow = async (method: string) =>
      (await request(serve(router), path, { method })).headers.get('allow');

    expect([await allow('OPTIONS'), await allow('POST')]).toEqual([methods, methods]);
  });

  test.each<[string, (router: Router) => Application, string]>([
    ['app.route', (router) => serve(router, '/api'), '/api/users'],
    ['a mount', (router) => serve(createRouter().mount('/api', router)), '/api/users'],
    [
      'a mount, where the inner router responds',
      (router) => {
        const outer = createRouter().mount('/api', router);
        return createApp({ logger: quiet }).use(outer.routes(), router.allowedMethods());
      },
      '/api/users',
    ],
    [
      'no prefix, where the router is mounted elsewhere as well',
      (router) => {
        const app = createApp({ logger: quiet }).use(router.routes()).route('/api', router);
        return app.use(router.allowedMethods());
      },
      '/users',
    ],
  ])('gets 405 with %s', async (_, build, path) => {
    const response = await request(build(users()), path, { method: 'PATCH' });

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  test('keeps the response of middleware before it', async () => {
    const early: Middleware = (ctx, next) => {
      ctx.send('early');
      return next();
    };

    const response = await request(serve(users(), '', [early]), '/users', { method: 'DELETE' });

    expect([response.status, await response.text()]).toEqual([200, 'early']);
  });

  test('gets 404 without allowedMethods()', async () => {
    const app = createApp({ logger: quiet }).use(users().routes()).use(notFoundHandler());

    expect((await request(app, '/users', { method: 'DELETE' })).status).toBe(404);
  });

  test.each(['DELETE', 'OPTIONS'])(
    'passes %s of an unknown path to later middleware',
    async (method) => {
      const response = await request(serve(users()), '/unknown', { method });

      expect(response.status).toBe(404);
      expect(response.headers.get('allow')).toBeNull();
    },
  );
});

describe('OPTIONS', () => {
  test('sends Accept-Patch for paths with PATCH only', async () => {
    const router = createRouter().get('/a', respond).patch('/a', respond).get('/b', respond);
    const patchTypes = ['application/merge-patch+json', 'application/json'];
    const app = createApp({ logger: quiet }).use(
      router.routes(),
      router.allowedMethods({ patchTypes }),
    );
    const acceptPatch = async (path: string, method: string) =>
      (await request(app, path, { method })).headers.get('accept-patch');

    expect(await acceptPatch('/a', 'OPTIONS')).toBe(patchTypes.join(', '));
    expect(await acceptPatch('/b', 'OPTIONS')).toBeNull();
    expect(await acceptPatch('/a', 'DELETE')).toBeNull();
  });

  test('on a known path gets 200 with Allow and no body', async () => {
    const response = await request(serve(users()), '/users', { method: 'OPTIONS' });

    expect(response.status).toBe(200);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(response.headers.get('content-type')).toBeNull();
    expect(await response.text()).toBe('');
  });

  test('runs an explicit OPTIONS route', async () => {
    const router = users().options('/users', (ctx) => ctx.json({ own: true }));

    const response = await request(serve(router), '/users', { method: 'OPTIONS' });

    expect(await response.json()).toEqual({ own: true });
    expect(response.headers.get('allow')).toBeNull();
  });
});

describe('a method that no route uses', () => {
  test('gets 501 if the framework does not know it', async () => {
    const app = serve(users());

    for (const path of ['/users', '/unknown']) {
      expect((await request(app, path, { method: 'PROPFIND' })).status).toBe(501);
    }
  });

  test.each(['TRACE', 'QUERY'])('gets 405 on a known path: %s', async (method) => {
    expect((await request(serve(users()), '/users', { method })).status).toBe(405);
  });

  test('gets 405 on a known path once any route uses it', async () => {
    const app = serve(users().route('PROPFIND', '/files', respond));

    expect((await request(app, '/users', { method: 'PROPFIND' })).status).toBe(405);
    expect((await request(app, '/files', { method: 'PROPFIND' })).status).toBe(200);
  });

  test('gets 405 on a known path if a router around it uses the method', async () => {
    const router = users();
    const outer = createRouter().mount('/api', router).route('PROPFIND', '/files', respond);
    const app = createApp({ logger: quiet }).use(
      router.routes(),
      outer.routes(),
      router.allowedMethods(),
    );

    expect((await request(app, '/users', { method: 'PROPFIND' })).status).toBe(405);
  });
});

test('a route takes its method also if its handler calls next()', async () => {
  const router = createRouter().get('/a', (_ctx, next) => next());
  const app = createApp({ logger: quiet }).use(router.routes(), router.allowedMethods());

  expect((await request(app.use(respond), '/a')).status).toBe(200);
});

test.each([
  ['a router that was never mounted', () => createRouter().get('/x', () => '')],
  [
    'a router that is mounted on such a router',
    () => {
      const inner = createRouter().get('/x', () => '');
      createRouter().mount('/outer', inner);
      return inner;
    },
  ],
  ['a router with a group', () => createRouter().group('/g', (group) => group.get('/x', () => ''))],
])('an application with the allowedMethods() of %s does not start', async (_, create) => {
  const app = createApp({ logger: quiet }).use(create().allowedMethods());

  await expect(request(app, '/x')).rejects.toThrow(
    /^Cannot use allowedMethods\(\) of a router that is not mounted, with the path (\/outer|\/g)?\/x: expected app\.route\(prefix, router\)$/,
  );
});

test('an application with the allowedMethods() of a router without routes starts', async () => {
  const app = createApp({ logger: quiet }).use(createRouter().allowedMethods());

  expect((await request(app, '/x')).status).toBe(404);
});
