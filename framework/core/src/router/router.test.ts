import { createApp } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { endpoint } from './endpoint.ts';
import { createRouter } from './router.ts';
import { echo, get, pathsOf, serve } from './testing/echo.ts';
import type { Router } from './types.ts';

const handler = () => {};

describe('the most specific route', () => {
  test('wins if it is registered last', () => {
    const router = createRouter();
    for (const pattern of ['/users/*', '/users/:id', '/users/me']) router.get(pattern, handler);

    expect(
      ['/users/me', '/users/7', '/users/7/x/y'].map((path) => router.match('GET', path)),
    ).toMatchObject([
      { route: { path: '/users/me' }, params: {} },
      { route: { path: '/users/:id' }, params: { id: '7' } },
      { route: { path: '/users/*' }, params: { '*': '7/x/y' } },
    ]);
  });

  test('is found after backtracking', () => {
    const router = createRouter()
      .get('/users/me/profile', handler)
      .get('/users/:id/posts', handler);

    expect(router.match('GET', '/users/me/posts')?.params).toEqual({ id: 'me' });
  });
});

describe('a wildcard', () => {
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
  test('are ignored for matching and kept in parameters', async () => {
    const app = serve(createRouter().get('/users/:userId', echo));

    expect((await get(app, '/USERS/JohnDoe/')).body).toEqual({
      route: '/users/:userId',
      params: { userId: 'JohnDoe' },
    });
  });

  test('are exact with caseSensitive', async () => {
    const app = serve(createRouter({ caseSensitive: true }).get('/Users/:id', echo));

    expect((await get(app, '/Users/7')).status).toBe(200);
    expect((await get(app, '/users/7')).status).toBe(404);
  });

  test.each([
    ['/users', '/users/'],
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
});

describe('an ambiguous or malformed path', () => {
  test.each([...'/%ZZ /a%C0%AF'.split(' '), ...'/a/../b /a\\b /a#b'.split(' ')])(
    '%s gets 400 before any middleware',
    async (path) => {
      const ran = vi.fn((ctx) => ctx.json({}));
      const app = createApp({ logger: quiet })
        .use(ran)
        .use(createRouter().get('/*', echo).routes());

      const response = await request(app, path);

      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(ran).not.toHaveBeenCalled();
    },
  );

  test.each(
    '// //users /users//7 /users// //users/7 /users/7// /users//posts /files// /files//a /files/a//'.split(
      ' ',
    ),
  )('%s is 404: slashes are not merged', async (path) => {
    const router = createRouter()
      .get('/', echo)
      .get('/users', echo)
      .get('/users/:id', echo)
      .get('/users/:id/posts', echo)
      .get('/files/*', echo);

    expect((await get(serve(router), path)).status).toBe(404);
  });
});

describe('registration', () => {
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
    ['/a*', '"*" must be a segment of its own'],
    ['/:a/:a', 'parameter "a" must occur only once'],
    ['/x/:', 'parameter "" must have a name'],
    ['/x/:a.json', 'parameter "a.json" must have a name'],
    ['users', 'the path must start with "/"'],
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

describe('handlers', () => {
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

const FACTORIES: Record<string, (options: object) => unknown> = {
  createRouter,
  allowedMethods: (options) => createRouter().allowedMethods(options),
  endpoint,
};

test.each([
  ['createRouter', 'strict', '1', 'true or false'],
  ['allowedMethods', 'patchTypes', 'text/csv', 'a list of media types'],
  ['endpoint', 'tags', 'x', 'a list of strings'],
  ['endpoint', 'security', 'x', 'a list of objects'],
  ['endpoint', 'bodyTypes', 'text/csv', 'a list of media types'],
])('%s() with the option %s "%s" throws: expected %s', (factory, name, value, expected) => {
  expect(() => FACTORIES[factory]?.({ [name]: value })).toThrow(
    new TypeError(`Cannot read option ${name} "${value}" of ${factory}(): expected ${expected}`),
  );
});

test.each([
  ['createRouter', 'casesensitive', 'caseSensitive', 'prefix, caseSensitive, strict'],
  ['allowedMethods', 'patchType', 'patchTypes', 'patchTypes'],
  [
    'endpoint',
    'sumary',
    'summary',
    'summary, description, tags, deprecated, visibility, responses, errors, operationId, security, reads, bodyTypes',
  ],
])('%s() with the option %s throws and suggests %s of %s', (factory, name, meant, known) => {
  expect(() => FACTORIES[factory]?.({ [name]: [] })).toThrow(
    new TypeError(
      `${factory}() has no option "${name}"; did you mean "${meant}"? Its options: ${known}`,
    ),
  );
});

test('a prefix that is not a path throws', () => {
  expect(() => createRouter({ prefix: 'users' })).toThrow(
    new TypeError('Cannot use prefix "users": the path must start with "/"'),
  );
});
