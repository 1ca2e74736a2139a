import { type Application, createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { describe, expect, test } from 'vitest';
import { createRouter } from './router.ts';
import { serve } from './testing/echo.ts';
import type { Router, RouterOptions } from './types.ts';

const reach: Middleware = (ctx) => ctx.json({ route: ctx.route?.path });

type Build = (guard: Middleware, create: (prefix?: string) => Router) => Application;

const createQuietApp = () => createApp({ logger: quiet });

/** A guard that lets all requests pass, and their paths. */
function recordPaths(): { guard: Middleware; seen: string[] } {
  const seen: string[] = [];
  const guard: Middleware = (ctx, next) => {
    seen.push(ctx.path);
    return next();
  };
  return { guard, seen };
}

/** What is to be guarded, relative to `/admin`: the place itself, static, captured and the rest. */
function secrets<Prefix extends string>(router: Router<Prefix>): Router<Prefix> {
  return router
    .get('/', reach)
    .get('/users', reach)
    .get('/café', reach)
    .get('/users/:id', reach)
    .get('/files/*', reach);
}

/** The same from the root, where routes may also match under `/admin` by a parameter or a wildcard. */
function wholePaths(router: Router): Router {
  return router
    .get('/admin', reach)
    .get('/admin/users', reach)
    .get('/admin/café', reach)
    .get('/admin/users/:id', reach)
    .get('/:area/users/:id/posts', reach)
    .get('/*', reach);
}

/** Every way to add a guard for the routes under /admin. */
const WAYS: Readonly<Record<string, Build>> = {
  'app.use(prefix)': (guard, create) =>
    createQuietApp().use('/admin', guard).use(wholePaths(create()).routes()),
  'app.use(prefix/)': (guard, create) =>
    createQuietApp().use('/Admin/', guard).use(wholePaths(create()).routes()),
  'router.use(path)': (guard, create) => serve(wholePaths(create().use('/admin', guard))),
  'router.use(path) after the routes': (guard, create) =>
    serve(wholePaths(create()).use('/admin', guard)),
  'router.use(path) under a prefix option': (guard, create) =>
    serve(secrets(create('/admin').use('/', guard))),
  'router.use(path, guard, router)': (guard, create) =>
    serve(create().use('/admin', guard, secrets(create()))),
  'router.use(guard) of a mounted router': (guard, create) =>
    serve(create().mount('/admin', secrets(create().use(guard)))),
  'router.use(guard) with app.route': (guard, create) =>
    createQuietApp().route('/admin', secrets(create().use(guard))),
  'a group': (guard, create) =>
    serve(create().group('/admin', [guard], (group) => void secrets(group))),
  'a group in a group': (guard, create) =>
    serve(
      create().group('/', guard, (outer) => {
        outer.group('/admin', (group) => void secrets(group));
      }),
    ),
  'router.use(path) above a mount': (guard, create) =>
    serve(create().use('/admin', guard).mount('/', wholePaths(create()))),
  'app.use(prefix) above app.route': (guard, create) =>
    createQuietApp().use('/admin', guard).route('/admin', secrets(create())),
  'the route itself': (guard, create) =>
    serve(
      create()
        .get('/admin', guard, reach)
        .get('/admin/users', guard, reach)
        .get('/admin/café', guard, reach)
        .get('/admin/users/:id', guard, reach)
        .get('/admin/files/*', guard, reach),
    ),
};

/** Spellings of the paths under /admin, and paths that only look similar. */
const SPELLINGS = String.raw`
  /admin /admin/ /ADMIN /Admin/ /%61dmin /%41DMIN/ /a%64mi%6e /a%64mi%6E /admin?x=/public
  /admin/users /admin/users/ /ADMIN/USERS /admin/%75sers /admin/%55sers/ /admin/caf%C3%A9
  /admin/caf%c3%a9 /Admin/CAF%C3%A9/ /admin/users/7 /aDmIn/uSeRs/7/ /%61dmin/users/%37
  /admin/users/..; /admin/users/a%2Fb /admin/users/a;b /admin/users/%252e%252e /admin/users/...
  /admin/users/7/posts /ADMIN/users/7/POSTS /admin/files/a /admin/files/a/b%2Fc /admin/nobody
  /admin/users/7?redirect=//x http://localhost/admin/users http://localhost/%61DMIN/users/
  http://other.example/admin /admin/. /admin/./users /./admin/users /public/../admin/users
  /public/%2e%2e/admin/users /public/..%2Fadmin/users /public/..;/admin/users /admin/..
  /admin%2Fusers /admin%2fusers%2f7 /%61dmin%2Fusers /admin%252Fusers /%2561dmin/users
  /%2Fadmin/users /admin;/users /admin;x=1/users /;/admin/users /admin%3B/users
  /admin\users \admin\users /admin%5Cusers /public/..\admin/users
  //admin/users /admin//users /admin/users// ///admin /admin%00/users /admin/users%00
  /admin%20/users /admin+/users /admin./users /.admin/users /admin%E2%80%8B/users
  /%EF%BD%81dmin/users /adm%C4%B1n/users /admin%C0%AFusers /admin%ZZ /admin#/users
  /administrators/users
`
  .trim()
  .split(/\s+/);

/** Whether a route, or the normalised path that reached it, is under /admin. */
function isSecret(route: string, spelling: string): boolean {
  if (route.startsWith('/admin')) return true;
  const path = spelling.replace(/^http:\/\/[^/]*/, '').replace(/\?.*$/, '');
  const [, first = ''] = path.split('/');
  return decodeURIComponent(first).toLowerCase() === 'admin';
}

describe.each(Object.entries(WAYS))('a guard mounted by %s', (_, build) => {
  test.each<RouterOptions>([{}, { caseSensitive: true }, { strict: true }])(
    'runs for every spelling that reaches a route under it: %o',
    async (options) => {
      const seen: string[] = [];
      const guard: Middleware = (ctx, next) => {
        seen.push(ctx.url);
        return next();
      };
      const app = build(guard, (prefix = '') => createRouter({ ...options, prefix }));
      let reached = 0;

      for (const spelling of SPELLINGS) {
        const response = await request(app, spelling);
        const body: unknown = await response.json();
        if (response.status !== 200) continue;
        const { route } = body as { route: string };
        if (!isSecret(route, spelling)) continue;
        // A case-sensitive router's guard applies to that router only.
        if (options.caseSensitive && route === '/*' && !spelling.includes('/admin')) continue;
        reached++;
        expect(seen, `${spelling} reached ${route}`).toContain(spelling);
      }

      expect(reached).toBeGreaterThan(options.caseSensitive || options.strict ? 10 : 15);
    },
  );

  test('stops a request before the handler', async () => {
    const guard: Middleware = (ctx) => {
      ctx.status = 401;
      ctx.json({ error: 'Unauthorized' });
    };
    const app = build(guard, (prefix = '') => createRouter({ prefix }));

    for (const spelling of ['/admin/users', '/ADMIN/%75sers/', '/%61dmin/users/7', '/admin/']) {
      const response = await request(app, spelling);
      expect(response.status, spelling).toBe(401);
      expect(await response.json(), spelling).toEqual({ error: 'Unauthorized' });
    }
  });
});

test.each([
  {
    name: 'under a parameter runs for each value of it',
    at: '/:tenant/admin',
    routes: ['/:tenant/:area/users', '/acme/admin/users'],
    runs: ['/acme/admin/users', '/other/ADMIN/users', '/acme/admin/users/'],
    passes: ['/acme/public/users'],
  },
  {
    name: 'at /users/:id does not run for /users',
    at: '/users/:id',
    routes: ['/users', '/users/:id', '/users/:id/posts'],
    runs: ['/users/7', '/users/7/', '/users/7/posts'],
    passes: ['/users', '/users/'],
  },
  {
    name: 'under a parameter does not run without a value',
    at: '/:tenant',
    routes: ['/', '/acme'],
    runs: ['/acme'],
    passes: ['/'],
  },
  {
    name: 'does not run for a path that only starts with the same letters',
    at: '/admin',
    routes: ['/*'],
    runs: [],
    passes: ['/administrators', '/admin.html', '/admin;x', '/admin%2Fusers', '/x/admin'],
  },
])('a guard $name', async ({ at, routes, runs, passes }) => {
  const { guard, seen } = recordPaths();
  const router = createRouter().use(at, guard);
  for (const path of routes) router.get(path, reach);

  for (const path of [...passes, ...runs]) {
    expect((await request(serve(router), path)).status).toBe(200);
  }

  expect(seen).toEqual(runs);
});

test.each(
  Object.entries<(router: Router) => Application>({
    'app.route': (router) => createQuietApp().route('/:tenant/api', router),
    'router.mount': (router) => serve(createRouter().mount('/:tenant/api', router)),
    'two mounts': (router) =>
      serve(createRouter().mount('/:tenant', createRouter().mount('/api', router))),
    'a group': (router) =>
      serve(createRouter().group('/:tenant', (g) => void g.mount('/api', router))),
    'a prefix option': (router) =>
      serve(createRouter({ prefix: '/:tenant' }).mount('/api', router)),
  }),
)('a guard at a path of a router is relative to %s', async (_, mount) => {
  const { guard, seen } = recordPaths();
  const router = createRouter().use('/admin', guard);
  const app = mount(router.get('/admin/users', reach).get('/:area/other', reach));

  for (const path of ['/a/api/admin/users', '/B/API/%61dmin/other/', '/admin/api/public/other']) {
    expect((await request(app, path)).status).toBe(200);
  }

  expect(seen).toEqual(['/a/api/admin/users', '/B/API/admin/other/']);
});
