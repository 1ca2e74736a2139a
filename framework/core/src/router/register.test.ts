import { annotate, type Context, createApp, type Middleware, type Parts } from '@fw/core';
import { setParts } from '@fw/core/extension';
import { quiet, request } from '@fw/core/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { createRouter } from './router.ts';
import type { Router, Validator } from './types.ts';

/** A validator that replaces the parts of a request by `parts`. */
function put<P extends Parts>(parts: P): Validator<P> {
  return (ctx, next) => {
    setParts(ctx, parts);
    return next();
  };
}

const pass: Middleware = (_ctx, next) => next();
type Age = { age: number };
type Paging = { page: number };

describe('the functions of a route', () => {
  test('read the output of the validators before them, not of those after them', async () => {
    const router = createRouter();
    router.post(
      '/:id',
      (ctx, next) => {
        expectTypeOf(ctx.body).toEqualTypeOf<unknown>();
        return next();
      },
      put({ body: { age: 1 } }),
      (ctx, next) => {
        expectTypeOf(ctx.body).toEqualTypeOf<Age>();
        expectTypeOf(ctx.query).toEqualTypeOf<Context['query']>();
        return next();
      },
      put({ query: { page: 2 } }),
      (ctx) => {
        expectTypeOf(ctx.body).toEqualTypeOf<Age>();
        expectTypeOf(ctx.query).toEqualTypeOf<Paging>();
        expectTypeOf(ctx.params).toEqualTypeOf<{ readonly id: string }>();
        ctx.json([ctx.params.id, ctx.body.age, ctx.query.page]);
      },
    );

    const app = createApp({ logger: quiet }).use(router.routes());
    const response = await request(app, '/7', { method: 'POST' });

    expect(await response.json()).toEqual(['7', 1, 2]);
  });

  test('read the parameters of a validator instead of those of the path', () => {
    createRouter({ prefix: '/:tenant' })
      .get('/:id', put({ params: { id: 7 } }), (ctx) => {
        expectTypeOf(ctx.params).toEqualTypeOf<{ id: number }>();
      })
      .get('/:id/x', put({ params: { id: 7 } }), put({ params: { id: true } }), (ctx) => {
        expectTypeOf(ctx.params).toEqualTypeOf<{ id: boolean }>();
      });
  });

  test('are typed in every form of registration', () => {
    const body = put({ body: { age: 1 } });
    const router = createRouter();
    const handler = (ctx: Context<{ params: { readonly id: string }; body: Age }>) => {
      ctx.json(ctx.body.age);
    };

    router.get('/get/:id', body, handler).put('/put/:id', body, handler);
    router.patch('/:id', body, handler).delete('/:id', body, handler).query('/:id', body, handler);
    router.all('/all/:id', body, (ctx) => expectTypeOf(ctx.body).toEqualTypeOf<Age>());
    router.route('PURGE', '/:id', pass, body, pass, (ctx) => {
      expectTypeOf(ctx.body).toEqualTypeOf<Age>();
      expectTypeOf(ctx.params.id).toEqualTypeOf<string>();
    });
    router.get('/far/:id', pass, pass, pass, pass, pass, body, pass, (ctx) => {
      expectTypeOf(ctx.body).toEqualTypeOf<Age>();
      expectTypeOf(ctx.params.id).toEqualTypeOf<string>();
    });
    // @ts-expect-error: nothing has validated the body
    router.get('/none/:id', handler);
    // @ts-expect-error: another body
    router.get('/other/:id', put({ body: { age: 'old' } }), handler);

    expect(router.match('PURGE', '/7')?.params).toEqual({ id: '7' });
  });

  test('may be given as lists', () => {
    const list: readonly Middleware[] = [pass, pass];
    const checks = [pass, put({ body: { age: 1 } })] as const;
    const router = createRouter();

    router.route('GET', '/a/:id', ...list);
    router.route('GET', '/b/:id', ...list, (ctx) => {
      expectTypeOf(ctx.params.id).toEqualTypeOf<string>();
    });
    router.get('/c/:id', ...checks, (ctx) => expectTypeOf(ctx.body).toEqualTypeOf<Age>());

    expect(router.getRoutes()).toHaveLength(3);
  });
});

describe('the routes of a group', () => {
  test('read the output of the validators of the group', () => {
    const router = createRouter();
    router.group('/:id', pass, put({ query: { page: 1 } }), (group) => {
      group.post('/x', put({ body: { age: 1 } }), (ctx) => {
        expectTypeOf(ctx.query).toEqualTypeOf<Paging>();
        expectTypeOf(ctx.body).toEqualTypeOf<Age>();
        expectTypeOf(ctx.params).toEqualTypeOf<{ readonly id: string }>();
      });
      group.group('/:sub', put({ body: { age: 1 } }), (inner) => {
        inner.get('/y', (ctx) => {
          expectTypeOf(ctx.query).toEqualTypeOf<Paging>();
          expectTypeOf(ctx.body).toEqualTypeOf<Age>();
          expectTypeOf(ctx.params).toEqualTypeOf<{ readonly id: string; readonly sub: string }>();
        });
      });
    });
    router.group('/list/:id', [put({ query: { page: 1 } }), pass], (group) => {
      group.get('/', (ctx) => {
        expectTypeOf(ctx.query).toEqualTypeOf<Paging>();
        expectTypeOf(ctx.params).toEqualTypeOf<{ readonly id: string }>();
      });
    });

    expect(router.getRoutes().map(({ path }) => path)).toEqual([
      '/:id/x',
      '/:id/:sub/y',
      '/list/:id',
    ]);
  });
});

describe('a registration that cannot work', () => {
  const pattern = /^\/a/ as unknown as string;
  const text = 'expected a path as text, such as "/users/:id"; "/*" at the end matches any rest';

  test.each<readonly [string, () => unknown]>([
    ['Cannot register GET /^\\/a/: ', () => createRouter().get(pattern, pass)],
    ['Cannot mount a router at "/^\\/a/": ', () => createRouter().group(pattern, () => {})],
  ])('with a regular expression explains paths: %s', (start, register) => {
    expect(register).toThrow(new TypeError(start + text));
  });

  test.each<readonly [string, () => unknown]>([
    ['group routes at "/a": expected a callback', () => createRouter().group('/a', [] as never)],
    ['mount a router at "/a": expected a router', () => createRouter().mount('/a', {} as never)],
  ])('says what is expected: Cannot %s', (message, register) => {
    expect(register).toThrow(new TypeError(`Cannot ${message}`));
  });

  test('with a regular expression as prefix explains prefixes', () => {
    expect(() => createApp().use(pattern as never, pass)).toThrow(
      'Cannot use "/^\\/a/": expected a middleware function or a prefix as text',
    );
  });

  test.each(
    Object.entries<(...args: never[]) => unknown>({
      'Cannot use (err, req, res, next): middleware takes (ctx, next); errorHandler() sends errors, and try { await next() } catch (error) { … } handles them':
        (_err: unknown, _req: unknown, _res: unknown, next: () => void) => next(),
      'Cannot use (req, res, next): middleware takes (ctx, next); connect() of @fw/middleware runs Express middleware':
        (_req: unknown, _res: unknown, next: () => void) => next(),
    }),
  )('with Express middleware names the replacement: %s', (message, layer) => {
    expect(() => createApp().use(layer as Middleware)).toThrow(new TypeError(message));
  });
});

const validates = (validation: unknown) =>
  annotate<Middleware>((_ctx, next) => next(), { validation });

/** Middleware that needs the parameter `id`. */
const needsId = annotate<Middleware>((ctx) => ctx.send(String(ctx.params.id)), {
  missingPathParam: (names) => (names.includes('id') ? undefined : 'id'),
});
const NEEDS_ID = 'Cannot register GET /users/:user: "id" must be a parameter of the path';

test.each([undefined, null, { body: 'B' }])(
  'a route with middleware that needs another parameter is rejected, also after validation of %o',
  (validation) => {
    const router = createRouter().get('/users/:user', validates(validation), needsId, pass);

    expect(() => router.routes()).toThrow(new TypeError(NEEDS_ID));
  },
);

test('middleware after a validator of the parameters may need any parameter', () => {
  const router = createRouter().get('/users/:user', validates({ params: 'P' }), needsId, pass);

  expect(() => router.routes()).not.toThrow();
});

test('middleware that needs another parameter is not added to a router that is served', async () => {
  const router = createRouter().get('/users/:user', (ctx) => ctx.params.user);
  const app = createApp().use(router.routes());

  expect(() => router.use(pass, needsId)).toThrow(new TypeError(NEEDS_ID));

  expect(await (await request(app, '/users/ada')).text()).toBe('ada');
});

test('middleware may need a parameter of the path at which its router is mounted later', async () => {
  const router = createRouter().get('/', pass).use(needsId);
  const app = createApp().route('/users/:id', router);

  expect(await (await request(app, '/users/7')).text()).toBe('7');
});

const CONFLICT = 'Route conflict: PUT /a is already registered';
const conflicting = () =>
  createRouter()
    .get('/b', () => '')
    .put('/a', () => 'second');

test.each<readonly [string, (router: Router) => unknown]>([
  ['put()', (router) => router.put('/a', () => 'second')],
  ['all()', (router) => router.all('/a', () => 'second')],
  ['mount()', (router) => router.mount('/', conflicting())],
  ['use() of routers', (router) => router.use('/', createRouter(), conflicting())],
  ['group()', (router) => router.group('/', (group) => group.mount('/', conflicting()))],
])('%s that fails changes nothing', (_, register) => {
  const router = createRouter().put('/a', () => 'first');
  const outer = createRouter().mount('/outer', router);

  expect(() => register(router)).toThrow(CONFLICT);

  expect(router.getRoutes().map(({ method, path }) => `${method} ${path}`)).toEqual([
    'PUT /outer/a',
  ]);
  expect(outer.match('GET', '/outer/b')).toBeUndefined();
});

test('use() that fails leaves an earlier mount of the same router', () => {
  const shared = createRouter().put('/a', () => '');
  const router = createRouter().mount('/first', shared);

  expect(() => router.use('/second', shared, conflicting())).toThrow('PUT /second/a');
  shared.get('/later', () => '');

  expect(router.match('GET', '/first/later')).toBeDefined();
  expect(router.match('GET', '/second/later')).toBeUndefined();
});

test('all() of an application that fails changes nothing', async () => {
  const app = createApp({ logger: quiet }).put('/a', () => 'first');

  expect(() => app.all('/a', () => 'second')).toThrow(CONFLICT);

  expect((await request(app, '/a')).status).toBe(404);
  expect(await (await request(app, '/a', { method: 'PUT' })).text()).toBe('first');
});
