import { connect } from 'node:net';

import { type Application, createApp, listen, type Middleware } from '@fw/core';
import { request } from '@fw/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createRouter } from './create-router.ts';
import { endpoint } from './endpoint.ts';
import type { AnyRouter, Router } from './router.ts';

const logger = { info() {}, warn() {}, error() {} };
const handler = () => {};

/** Responds with the matched route and its parameters. */
const echo: Middleware = (ctx) => ctx.json({ route: ctx.route?.path, params: ctx.params });

function serve(router: AnyRouter): Application {
  return createApp({ logger }).use(router.routes());
}

/** Status and body of GET `path`. */
async function get(app: Application, path: string): Promise<{ status: number; body: unknown }> {
  const response = await request(app, path);
  const text = await response.text();
  return { status: response.status, body: response.status === 200 ? JSON.parse(text) : undefined };
}

/** The status line of the response to bytes that no HTTP client sends. */
async function sendRaw(app: Application, target: string): Promise<string> {
  const server = await listen(app, 0);
  const socket = connect(server.port, '127.0.0.1').setEncoding('latin1');
  const head = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  socket.end(Buffer.from(head, 'latin1'));
  let received = '';
  for await (const piece of socket) received += piece;
  await server.close();
  return received.slice(0, received.indexOf('\r\n'));
}

const pathsOf = (router: AnyRouter) => router.getRoutes().map(({ path }) => path);

/** Every order of `items`. */
function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, at) =>
    permutations(items.filter((_, other) => other !== at)).map((rest) => [first, ...rest]),
  );
}

describe('the most specific route', () => {
  // R1
  test.each(permutations(['/users/me', '/users/:id', '/users/*']))(
    'wins when the order is %s, %s, %s',
    (...patterns) => {
      const router = createRouter();
      for (const pattern of patterns) router.get(pattern, handler);

      expect(router.match('GET', '/users/me')).toMatchObject({ route: { path: '/users/me' } });
      expect(router.match('GET', '/users/7')).toMatchObject({
        route: { path: '/users/:id' },
        params: { id: '7' },
      });
      expect(router.match('GET', '/users/7/x/y')).toMatchObject({
        route: { path: '/users/*' },
        params: { '*': '7/x/y' },
      });
    },
  );

  // R2
  test.each([
    ['/users/me/profile', '/users/:id/posts'],
    ['/users/:id/posts', '/users/me/profile'],
  ])('is found after backtracking when %s is registered before %s', async (first, second) => {
    const app = serve(createRouter().get(first, echo).get(second, echo));

    expect((await get(app, '/users/me/posts')).body).toEqual({
      route: '/users/:id/posts',
      params: { id: 'me' },
    });
  });

  test('is chosen among the routes of the request method', () => {
    const router = createRouter().get('/users/:id', handler).post('/users/me', handler);

    expect(router.match('GET', '/users/me')?.params).toEqual({ id: 'me' });
    expect(router.match('POST', '/users/me')?.params).toEqual({});
  });
});

describe('a wildcard', () => {
  // R3
  test.each(['/files', '/files/'])('does not match %s', async (path) => {
    expect((await get(serve(createRouter().get('/files/*', echo)), path)).status).toBe(404);
  });

  test('has no trailing slash', () => {
    const router = createRouter({ strict: true }).get('/files/*/', handler);

    expect(pathsOf(router)).toEqual(['/files/*']);
  });

  test('captures the rest of the path as "*", decoded and joined by slashes', async () => {
    const app = serve(createRouter().get('/:bucket/*', echo));

    expect((await get(app, '/b/a/b%20c/d.txt')).body).toEqual({
      route: '/:bucket/*',
      params: { bucket: 'b', '*': 'a/b c/d.txt' },
    });
  });
});

describe('letter case and trailing slashes', () => {
  // R4
  test('are ignored for matching and kept in parameters', async () => {
    const app = serve(createRouter().get('/users/:id', echo));

    expect(await get(app, '/USERS/JohnDoe/')).toEqual({
      status: 200,
      body: { route: '/users/:id', params: { id: 'JohnDoe' } },
    });
  });

  test('are folded in ASCII only', async () => {
    const app = serve(createRouter().get('/caf\u00e9', echo).get('/\u212a', echo));

    expect((await get(app, '/CAF%C3%A9')).status).toBe(200);
    expect((await get(app, '/caf%C3%89')).status).toBe(404);
    expect((await get(app, '/k')).status).toBe(404);
  });

  test('keep the case of parameter names', () => {
    const router = createRouter().get('/users/:userId', handler);

    expect(router.match('GET', '/users/7')?.params).toEqual({ userId: '7' });
  });

  // R5
  test('are exact with caseSensitive', async () => {
    const app = serve(createRouter({ caseSensitive: true }).get('/Users/:id', echo));

    expect((await get(app, '/Users/7')).status).toBe(200);
    expect((await get(app, '/users/7')).status).toBe(404);
  });

  test('make two routes with the strict option', async () => {
    const app = serve(createRouter({ strict: true }).get('/users', echo).get('/users/', echo));

    expect((await get(app, '/users')).body).toMatchObject({ route: '/users' });
    expect((await get(app, '/users/')).body).toMatchObject({ route: '/users/' });
  });

  test.each([
    ['/users', '/users/'],
    ['/users/', '/users'],
    ['/users/:id', '/users/7/'],
    ['/users/:id/', '/users/7'],
  ])('are compared with strict if only %s is registered: %s is 404', async (pattern, path) => {
    const app = serve(createRouter({ strict: true }).get(pattern, echo));

    expect((await get(app, path)).status).toBe(404);
    expect((await get(app, pattern.replace(':id', '7'))).status).toBe(200);
  });

  test.each([{ caseSensitive: true }, { strict: true }])(
    'must have the same options in a router and in one that is mounted on it: only one with %o throws',
    (options) => {
      expect(() => createRouter().mount('/a', createRouter(options))).toThrow(
        'Cannot mount a router at "/a": both must have the same options caseSensitive and strict',
      );
    },
  );
});

describe('percent-encoding', () => {
  // R6
  test.each([
    ['/users/a%2Fb', 'a/b'],
    ['/users/a%2fb', 'a/b'],
    ['/users/%252e', '%2e'],
    ['/users/%252F', '%2F'],
    ['/users/caf%C3%A9', 'café'],
    ['/users/100%25', '100%'],
    ['/users/a+b', 'a+b'],
    ['/users/a%3Fb%23c', 'a?b#c'],
    ['/users/a;v=1', 'a;v=1'],
    ['/users/..;', '..;'],
    ['/users/...', '...'],
  ])('is decoded once: %s has the id %s', async (path, id) => {
    const app = serve(createRouter().get('/users/:id', echo));

    expect((await get(app, path)).body).toEqual({ route: '/users/:id', params: { id } });
  });

  test.each(['/users/%6De', '/%75sers/me', '/users/m%65/', '/USERS/%4D%45'])(
    'does not hide a static segment: %s is /users/me',
    async (path) => {
      const app = serve(createRouter().get('/users/me', echo).get('/users/:id', echo));

      expect((await get(app, path)).body).toEqual({ route: '/users/me', params: {} });
    },
  );

  test('of a slash does not separate segments', async () => {
    const app = serve(createRouter().get('/a/b', echo).get('/:one', echo));

    expect((await get(app, '/a%2Fb')).body).toEqual({ route: '/:one', params: { one: 'a/b' } });
  });

  test.each(['/café/naïve', '/caf%C3%A9/na%c3%afve'])(
    'is optional in a registered path: %s',
    (pattern) => {
      expect(
        createRouter().get(pattern, handler).match('GET', '/caf%C3%A9/na%C3%AFve'),
      ).toBeDefined();
    },
  );
});

describe('an ambiguous or malformed path', () => {
  // R7
  test.each([
    '/%ZZ',
    '/%',
    '/%2',
    '/a%C0%AF',
    '/%ED%A0%80',
    '/%FF',
    '/%00',
    '/a/b%00.txt',
    // R8
    '/.',
    '/..',
    '/./a',
    '/a/../b',
    '/a/.',
    '/a/..',
    '/%2e',
    '/%2E%2e/a',
    '/a/.%2E/b',
    '/a%2F..%2Fb',
    '/a%2F%2e%2e',
    '/a\\b',
    '/a%5Cb',
    '/a#b',
    '/#',
    '/a?b#c',
  ])('%s gets 400 before any middleware', async (path) => {
    const ran = vi.fn((ctx) => ctx.json({}));
    const app = createApp({ logger }).use(ran).use(createRouter().get('/*', echo).routes());

    const response = await request(app, path);

    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(ran).not.toHaveBeenCalled();
  });

  test.each([
    '/a\xe9',
    '/a\x80b',
    '/a#b',
    '/a\\b',
    '/%ZZ',
    '/a\x7f',
    '/a\x01',
    '/..',
    '/a/%2e%2e/b',
  ])('%j gets 400 over a socket', async (target) => {
    const app = serve(createRouter().get('/*', echo));

    expect(await sendRaw(app, target)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each(['/a%ZZ', '/a/../b', '/a\\b', '/a#b', '/a?b', '/a b', '/é', '/\ud800', 'a', '', '*'])(
    '%j matches nothing',
    (path) => {
      const router = createRouter().get('/*', handler).get('/', handler).get('/:a', handler);

      expect(router.match('GET', path)).toBeUndefined();
    },
  );

  // R9
  test.each(['//', '//users', '/users//7', '/users//', '//users/7', '/files//a', '/files/a//'])(
    '%s is 404: slashes are not merged',
    async (path) => {
      const router = createRouter()
        .get('/', echo)
        .get('/users', echo)
        .get('/users/:id', echo)
        .get('/files/*', echo);

      expect((await get(serve(router), path)).status).toBe(404);
    },
  );
});

describe('registration', () => {
  // R10
  test.each([
    ['/users', '/users'],
    ['/users', '/Users'],
    ['/users', '/users/'],
    ['/users/me', '/users/%6De'],
    ['/users/:id', '/users/:name'],
    ['/files/*', '/files/*/'],
    ['/', '/'],
  ])('of %s and then %s throws', (first, second) => {
    const router = createRouter().get(first, handler);

    expect(() => router.get(second, handler)).toThrow(
      `Route conflict: GET ${first} is already registered`,
    );
  });

  test.each([
    [{ caseSensitive: true }, '/Users'],
    [{ strict: true }, '/users/'],
  ])('of /users with %o allows %s as well', (options, second) => {
    const router = createRouter(options).get('/users', handler);

    expect(() => router.get(second, handler)).not.toThrow();
  });

  test('of one path for two methods is no conflict', () => {
    const router = createRouter().get('/users', handler);

    expect(() => router.post('/users', handler).head('/users', handler)).not.toThrow();
    expect(() => router.head('/users', handler)).toThrow('Route conflict: HEAD /users');
  });

  test('that fails changes neither the router nor its parents', () => {
    const child = createRouter().get('/b', handler);
    const other = createRouter().get('/a', handler).get('/b', handler);
    const parent = createRouter().mount('/x', child);

    expect(() => parent.mount('/x', other)).toThrow('Route conflict: GET /x/b');
    expect(() => parent.get('/x/b', handler)).toThrow('Route conflict: GET /x/b');
    parent.get('/x/c', handler);
    expect(() => child.get('/c', handler)).toThrow('Route conflict: GET /x/c');
    child.reset();

    expect(pathsOf(parent)).toEqual(['/x/c']);
    expect(child.match('GET', '/c')).toBeUndefined();
  });

  test.each([
    ['/a/*/b', '"*" must be the last segment'],
    ['/a/*/b/', '"*" must be the last segment'],
    ['/a*', '"*" must be a segment of its own'],
    ['/:a/:a', 'parameter "a" must occur only once'],
    ['/x/:', 'parameter "" must have a name'],
    ['/x/:a.json', 'parameter "a.json" must have a name'],
    ['users', 'the path must start with "/"'],
    ['', 'the path must start with "/"'],
    ['/a//b', 'the path must not have an empty segment'],
    ['/x/:id?', 'a parameter is ":" and a name; optional parameters and regular expressions are'],
    ['/x/:id(\\d+)', 'a parameter is ":" and a name; optional parameters and regular expressions'],
    ['/a/../b', 'no request can have this path'],
    ['/a%ZZ', 'no request can have this path'],
    ['/x/%3Aid', 'a segment must not begin with an escaped ":" or "*"'],
    ['/x/%2a', 'a segment must not begin with an escaped ":" or "*"'],
  ])('of "%s" throws: %s', (path, expected) => {
    expect(() => createRouter().get(path, handler)).toThrow(
      `Cannot register GET ${path}: ${expected}`,
    );
  });

  test('without a handler, or with one that is not a function, throws and names the route', () => {
    const router = createRouter();

    // @ts-expect-error
    expect(() => router.get('/a')).toThrow('Cannot register GET /a: expected a handler');
    // @ts-expect-error
    expect(() => router.post('/a', handler, 'x')).toThrow(
      'Cannot register POST /a with "x": expected a middleware function',
    );
    // @ts-expect-error
    expect(() => router.route('put', '/a', undefined)).toThrow(
      'Cannot register PUT /a with "undefined": expected a middleware function',
    );
    expect(() => router.route('GE T', '/a', handler)).toThrow('expected a method name');
    expect(router.getRoutes()).toEqual([]);
  });

  test.each(['/admin/*', '/*', '/a/*/b'])(
    'of middleware at %s throws: it would never run',
    (path) => {
      expect(() => createRouter().use(path, handler)).toThrow(
        `Cannot use middleware at "${path}": expected a path without "*"`,
      );
    },
  );

  test('of a router on itself throws', () => {
    const outer = createRouter();
    const inner = createRouter();
    outer.mount('/inner', inner);

    expect(() => inner.mount('/outer', outer)).toThrow('it would contain itself');
    expect(() => outer.mount('/', outer)).toThrow('it would contain itself');
  });
});

describe('parameters with different names at one position', () => {
  // R11
  test('belong to the route: each handler reads its own names', async () => {
    const router = createRouter()
      .get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id }))
      .put('/users/:name', (ctx) => ctx.json({ name: ctx.params.name }))
      .get('/users/:userId/posts', (ctx) => ctx.json({ userId: ctx.params.userId }))
      .get('/users/:userId/posts/*', (ctx) => ctx.json(ctx.params));
    const app = serve(router);

    expect(await (await request(app, '/users/7')).json()).toEqual({ id: '7' });
    expect(await (await request(app, '/users/7', { method: 'PUT' })).json()).toEqual({ name: '7' });
    expect(await (await request(app, '/users/7/posts')).json()).toEqual({ userId: '7' });
    expect(await (await request(app, '/users/7/posts/a/b')).json()).toEqual({
      userId: '7',
      '*': 'a/b',
    });
  });

  test('cause no warning', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();

    createRouter().get('/u/:id', handler).all('/u/:uid/x', handler);

    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('appear as registered in getRoutes(), match() and print()', () => {
    const router = createRouter().get('/u/:id', handler).get('/u/:uid/x', handler);

    expect(pathsOf(router)).toEqual(['/u/:id', '/u/:uid/x']);
    expect(router.match('GET', '/u/7/x')).toMatchObject({
      route: { path: '/u/:uid/x' },
      params: { uid: '7' },
    });
    expect(router.print()).toContain('/:uid');
  });

  test('may have a name that another route uses at another position', () => {
    const router = createRouter().get('/:b/x', handler).get('/:a/:b', handler);

    expect(router.match('GET', '/1/x')?.params).toEqual({ b: '1' });
    expect(router.match('GET', '/1/2')?.params).toEqual({ a: '1', b: '2' });
  });

  test.each<[string, (router: Router) => Router]>([
    [
      'mounts',
      (router) =>
        router
          .mount('/:org', createRouter().get('/users/:id', handler))
          .mount('/:tenant', createRouter().get('/users/:user/posts', handler)),
    ],
    [
      'groups',
      (router) =>
        router
          .group('/:org', (group) => void group.get('/users/:id', handler))
          .group('/:tenant', (group) => void group.get('/users/:user/posts', handler)),
    ],
  ])('belong to the route under %s with parameters', (_, add) => {
    const router = add(createRouter());

    expect(router.match('GET', '/acme/users/7')?.params).toEqual({ org: 'acme', id: '7' });
    expect(router.match('GET', '/acme/users/7/posts')?.params).toEqual({
      tenant: 'acme',
      user: '7',
    });
  });

  test('may have the name of an inherited property of objects', () => {
    const router = createRouter().get('/:__proto__/:constructor/:toString', handler);

    const params = router.match('GET', '/a/b/c')?.params ?? {};

    expect(Object.entries(params)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
    expect(createRouter().get('/', handler).match('GET', '/')?.params.constructor).toBeUndefined();
  });
});

describe('mounting', () => {
  // R13
  test('two routers under one prefix finds the route of the second', async () => {
    const app = createApp({ logger })
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
    const app = createApp({ logger })
      .use((ctx, next) => {
        ctx.status = 404;
        return next();
      })
      .use(createRouter().get('/a', echo).routes());

    expect((await request(app, '/a')).status).toBe(404);
  });

  test('a second router does not change the status of a request that the first one matched', async () => {
    const app = createApp({ logger })
      .use(
        createRouter()
          .get('/a', (_ctx, next) => next())
          .routes(),
      )
      .use(createRouter().get('/b', echo).routes());

    expect((await request(app, '/a')).status).toBe(204);
  });

  // R14
  test.each(['/apix/1', '/ap/1', '/api1', '/1'])(
    'under /api matches whole segments only: %s is 404',
    async (path) => {
      const app = createApp({ logger }).route('/api', createRouter().get('/:id', echo));

      expect((await get(app, path)).status).toBe(404);
    },
  );

  test.each(['/api/1', '/API/1', '/%61pi/1', '/Ap%69/1/'])(
    'under /api matches %s: prefixes are folded and decoded like routes',
    async (path) => {
      const app = createApp({ logger }).route('/api', createRouter().get('/:id', echo));

      expect((await get(app, path)).body).toEqual({ route: '/api/:id', params: { id: '1' } });
    },
  );

  test.each<[string, (router: ReturnType<typeof createRouter>) => Application]>([
    ['app.route', (router) => createApp({ logger }).route('/a/b', router)],
    ['router.mount', (router) => serve(createRouter().mount('/a/b', router))],
    ['router.use', (router) => serve(createRouter().use('/a/b', router))],
    ['routes(prefix)', (router) => createApp({ logger }).use(router.routes('/a/b'))],
    ['a prefix option', (router) => serve(createRouter({ prefix: '/a' }).mount('/b', router))],
    [
      'two mounts',
      (router) => serve(createRouter().mount('/a', createRouter().mount('/b', router))),
    ],
    [
      'a group',
      (router) => serve(createRouter().group('/a', (group) => void group.mount('/b', router))),
    ],
    ['an empty path', (router) => serve(createRouter({ prefix: '/a/b' }).mount('', router))],
    ['a trailing slash', (router) => createApp({ logger }).route('/a/b/', router)],
  ])('with %s serves the routes under /a/b', async (_, mount) => {
    const app = mount(createRouter().get('/', echo).get('/:id', echo));

    expect((await get(app, '/a/b')).body).toEqual({ route: '/a/b', params: {} });
    expect((await get(app, '/a/b/7')).body).toEqual({ route: '/a/b/:id', params: { id: '7' } });
    expect((await get(app, '/a/7')).status).toBe(404);
  });

  test.each(['/', ''])('at "%s" adds nothing to the paths', async (prefix) => {
    const app = createApp({ logger }).route(prefix, createRouter().get('/users', echo));

    expect((await get(app, '/users')).body).toEqual({ route: '/users', params: {} });
  });

  test('under a parameter captures it', async () => {
    const app = createApp({ logger }).route('/:tenant', createRouter().get('/users/:id', echo));

    expect((await get(app, '/acme/users/7')).body).toEqual({
      route: '/:tenant/users/:id',
      params: { tenant: 'acme', id: '7' },
    });
  });

  test('concatenates the prefixes of nested groups and runs their middleware outermost first', async () => {
    const order: string[] = [];
    const step =
      (name: string): Middleware =>
      (_ctx, next) => {
        order.push(name);
        return next();
      };
    const router = createRouter({ prefix: '/root' }).use(step('router'));
    router.group('/api', [step('api')], (api) => {
      api.group('/v1', step('v1'), (v1) => {
        v1.get('/users/:id', step('route'), echo);
      });
    });

    expect((await get(serve(router), '/root/api/v1/users/7')).body).toEqual({
      route: '/root/api/v1/users/:id',
      params: { id: '7' },
    });
    expect(order).toEqual(['router', 'api', 'v1', 'route']);
  });

  test('of one router at two paths serves both', async () => {
    const router = createRouter().get('/users', echo);
    const app = createApp({ logger }).route('/v1', router).route('/v2', router);

    expect((await get(app, '/v1/users')).body).toMatchObject({ route: '/v1/users' });
    expect((await get(app, '/v2/users')).body).toMatchObject({ route: '/v2/users' });
    expect(pathsOf(router)).toEqual(['/v1/users', '/v2/users']);
  });

  // R16
  test('applies routes and middleware that are added later', async () => {
    const inner = createRouter().get('/early', echo);
    const app = createApp({ logger }).route('/api', createRouter().mount('/inner', inner));
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
        metadata: { endpoint: { summary: 'Reads a user' } },
      },
      { method: 'GET', path: '/api/v1/health', metadata: { endpoint: { tags: ['all'] } } },
    ]);
    expect(inner.getRoutes()).toEqual(outer.getRoutes());
  });

  test.each([
    ['/api', '/api/users/:id'],
    ['/API/', '/API/users/:id'],
    ['/v1/api', '/v1/api/users/:id'],
    ['/', '/api/users/:id'],
    ['/v1', '/v1/api/users/:id'],
    ['/xapi', '/xapi/api/users/:id'],
  ])('at %s counts the prefix of a prefix group once, before and after: %s', (place, path) => {
    const early = createRouter();
    early.prefixGroup('/api').get('/users/:id', handler);
    const late = createRouter();
    const group = late.prefixGroup('/api');
    const outer = createRouter().mount(place, early).mount('/other', createRouter());
    createRouter().mount('/', createRouter().mount(place, late));
    group.get('/users/:id', handler);

    expect(pathsOf(outer)).toEqual([path]);
    expect(pathsOf(late)).toEqual([path]);
  });

  test('counts the prefix of a prefix group once under the prefix of its router, and ignores "/"', () => {
    const prefixed = createRouter({ prefix: '/api' });
    prefixed.prefixGroup('/api').get('/users', handler);
    const open = createRouter();
    open.prefixGroup('/').get('/users', handler);
    const outer = createRouter().mount('/', createRouter().mount('/', open));

    expect(pathsOf(prefixed)).toEqual(['/api/users']);
    expect(pathsOf(outer)).toEqual(['/users']);
  });

  test('counts the prefix of a prefix group once through a mount at "/", that of a mount each time', () => {
    const group = createRouter();
    group.prefixGroup('/api').get('/users', handler);
    const mount = createRouter().mount('/api', createRouter().get('/users', handler));
    const mountTwice = (router: Router) =>
      createRouter().mount('/api', createRouter().mount('/', router));

    expect(pathsOf(mountTwice(group))).toEqual(['/api/users']);
    expect(pathsOf(mountTwice(mount))).toEqual(['/api/api/users']);
  });

  test.each([
    ['/api', '/api/users'],
    ['/API', '/API/api/users'],
  ])('at %s with caseSensitive counts the prefix of a prefix group once: %s', (place, path) => {
    const router = createRouter({ caseSensitive: true });
    router.prefixGroup('/api').get('/users', handler);

    const outer = createRouter({ caseSensitive: true }).mount(place, router);

    expect(pathsOf(outer)).toEqual([path]);
  });

  test.each([
    ['/', '/api'],
    ['/', '/api/users'],
    ['/v1', '/api'],
    ['/api', '/api'],
    ['/api', '/api/users'],
    ['/api', '/users'],
    ['/v1/api', '/api'],
    ['/API', '/api'],
  ])(
    'mounted at %s, middleware for %s runs for the routes of a prefix group',
    async (place, path) => {
      const refuse = vi.fn<Middleware>((ctx) => ctx.json('refused'));
      const inner = createRouter().use(path, endpoint({ summary: 'guarded' }), refuse);
      inner.prefixGroup('/api').get('/users', echo);
      const outer = createRouter().mount(place, inner);
      const app = createApp({ logger }).use(outer.routes());

      const [{ path: url, metadata } = {}] = outer.getRoutes();
      const { body } = await get(app, url ?? '');

      expect(body).toBe('refused');
      expect(metadata).toEqual({ endpoint: { summary: 'guarded' } });
      expect(refuse).toHaveBeenCalledOnce();
    },
  );

  test('middleware for the prefix of a router runs for its prefix group with the same prefix', async () => {
    const router = createRouter({ prefix: '/v1' }).use('/v1', (ctx) => ctx.json('refused'));
    router.prefixGroup('/v1').get('/users', echo);
    const app = createApp({ logger }).use(router.routes());

    expect((await get(app, '/v1/users')).body).toBe('refused');
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

  test('keeps other routes when a nested router is reset', async () => {
    const inner = createRouter().get('/gone', echo);
    const middle = createRouter().mount('/inner', inner).get('/stays', echo);
    const app = createApp({ logger }).route('/api', middle);

    inner.reset();

    expect((await get(app, '/api/inner/gone')).status).toBe(404);
    expect((await get(app, '/api/stays')).status).toBe(200);
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
    const app = createApp({ logger }).route('/api', router);

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

describe('handlers', () => {
  test('before the last are middleware, run in order and may end the chain', async () => {
    const order: string[] = [];
    const app = serve(
      createRouter()
        .get(
          '/a',
          async (ctx) => {
            order.push('in');
            await ctx.next();
            order.push('out');
          },
          (ctx) => {
            order.push('handler');
            ctx.send('done');
          },
        )
        .get('/b', (ctx) => ctx.send('no further'), echo),
    );

    await request(app, '/a');

    expect(order).toEqual(['in', 'handler', 'out']);
    expect(await (await request(app, '/b')).text()).toBe('no further');
  });

  test.each(['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'query'] as const)(
    'of router.%s respond to that method',
    async (method) => {
      const app = serve(
        createRouter()[method]('/a', (ctx) => ctx.set('X-Ran', ctx.method).send('')),
      );

      const response = await request(app, '/a', { method: method.toUpperCase() });

      expect(response.headers.get('x-ran')).toBe(method.toUpperCase());
    },
  );

  test('of router.all respond to seven methods without TRACE and QUERY', () => {
    const router = createRouter().all('/a', handler);

    expect(router.getRoutes().map(({ method }) => method)).toEqual([
      'GET',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'HEAD',
      'OPTIONS',
    ]);
    expect(router.match('TRACE', '/a')).toBeUndefined();
  });

  test('of router.route respond to any method, given in any case', async () => {
    const app = serve(createRouter().route('propfind', '/a', echo));

    expect((await request(app, '/a', { method: 'PROPFIND' })).status).toBe(200);
  });

  // R23
  test('of router.query read the body', async () => {
    const app = serve(
      createRouter().query('/search', async (ctx) => {
        const pieces = await ctx.raw.req.toArray();
        ctx.json({ body: Buffer.concat(pieces).toString() });
      }),
    );

    const response = await request(app, '/search', { method: 'QUERY', body: 'name=Ada' });

    expect(await response.json()).toEqual({ body: 'name=Ada' });
  });
});

test.each<[string, string[], (router: Router) => unknown]>([
  ['nothing is served', ['/a'], (router) => createRouter().mount('/', router)],
  ['only another router is served', ['/a'], () => createRouter().get('/a', handler).routes()],
  ['it is served', [], (router) => router.routes()],
  ['a router around it is served', [], (router) => createRouter().mount('/x', router).routes()],
])('if %s, the unserved paths of a router are %j', (_, paths, serveSome) => {
  const router = createRouter().get('/a', handler);
  serveSome(router);

  expect(router.unservedPaths()).toEqual(paths);
});

// R22
test('match returns the route and its parameters and runs nothing', () => {
  const run = vi.fn();
  const router = createRouter({ prefix: '/api' }).use(run).get('/users/:id', run);

  expect(router.match('GET', '/API/users/a%2Fb')).toMatchObject({
    route: { method: 'GET', path: '/api/users/:id' },
    params: { id: 'a/b' },
  });
  expect(router.match('HEAD', '/api/users/7')).toMatchObject({ route: { method: 'GET' } });
  expect(router.match('POST', '/api/users/7')).toBeUndefined();
  expect(router.match('GET', '/api/nobody')).toBeUndefined();
  expect(run).not.toHaveBeenCalled();
});

test.each([
  [
    () => createRouter({ casesensitive: true } as object),
    'createRouter() has no option "casesensitive"; did you mean "caseSensitive"? Its options: prefix, caseSensitive, strict',
  ],
  [
    () => createRouter({ strict: 1 } as object),
    'Cannot read option strict "1" of createRouter(): expected true or false',
  ],
  [
    () => createRouter({ prefix: 'users' }),
    'Cannot use prefix "users": the path must start with "/"',
  ],
  [
    () => createRouter().allowedMethods({ patchTypes: 'text/csv' } as object),
    'Cannot read option patchTypes "text/csv" of allowedMethods(): expected a list of media types',
  ],
  [
    () => endpoint({ tags: 'x' } as object),
    'Cannot read option tags "x" of endpoint(): expected a list of strings',
  ],
  [
    () => endpoint({ security: {} } as object),
    'Cannot read option security "{}" of endpoint(): expected a list of objects',
  ],
  [
    () => endpoint({ bodyTypes: 'text/csv' } as object),
    'Cannot read option bodyTypes "text/csv" of endpoint(): expected a list of media types',
  ],
  [
    () => createRouter().allowedMethods({ patchType: [] } as object),
    'allowedMethods() has no option "patchType"; did you mean "patchTypes"? Its options: patchTypes',
  ],
  [
    () => endpoint({ responses: { 200: { id: z.int() } } } as object),
    'Cannot read option responses.200 "{ id: [ZodNumberFormat] }" of endpoint(): expected a schema; wrap a list of fields, as in z.object({ … })',
  ],
  [
    () => endpoint({ sumary: 'x' } as object),
    'endpoint() has no option "sumary"; did you mean "summary"? Its options: summary, description, tags, deprecated, visibility, responses, errors, operationId, security, reads, bodyTypes',
  ],
])('an option that is unknown or of a wrong type throws at start: %s', (create, message) => {
  expect(create).toThrow(new TypeError(message));
});
