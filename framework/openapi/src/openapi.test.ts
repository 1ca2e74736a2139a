import { type Application, createApp, createRouter, endpoint, type Router } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { validate } from '@fw/validation';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

import { type OpenApiDocument, type OpenApiOptions, openapi } from './index.ts';

function createDocumentedApp(options: Partial<OpenApiOptions> = {}): {
  app: Application;
  router: Router;
} {
  const router = createRouter().get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id }));
  const app = createApp({ logger: quiet });
  app.use(openapi({ ...(options.routers ? {} : { router }), ...options }));
  app.route('/api', router);
  return { app, router };
}

async function readDocument(app: Application): Promise<OpenApiDocument> {
  return (await (await request(app, '/openapi.json')).json()) as OpenApiDocument;
}

test('GET /openapi.json returns the document of the mounted router', async () => {
  const { app } = createDocumentedApp({ info: { title: 'Users', version: '2.0.0' } });

  const response = await request(app, '/openapi.json');

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await response.json()).toMatchObject({
    openapi: '3.1.1',
    info: { title: 'Users', version: '2.0.0' },
    paths: { '/api/users/{id}': { get: {} } },
  });
});

test('routers may be several, with different mount paths', async () => {
  const v1 = createRouter().get('/a', (ctx) => ctx.json(1));
  const v2 = createRouter().get('/a', (ctx) => ctx.json(2));
  const app = createApp()
    .use(openapi({ routers: [v1, v2] }))
    .route('/v1', v1)
    .route('/v2', v2);

  expect(Object.keys((await readDocument(app)).paths)).toEqual(['/v1/a', '/v2/a']);
});

test('the document is built once, on the first request', async () => {
  const { app, router } = createDocumentedApp();
  const getRoutes = vi.fn(() => router.getRoutes());
  const counting = createApp().use(openapi({ router: { getRoutes } }));
  router.get('/later', (ctx) => ctx.json({}));
  expect(getRoutes).not.toHaveBeenCalled();

  const responses = await Promise.all([1, 2, 3].map(() => request(counting, '/openapi.json')));
  router.get('/too-late', (ctx) => ctx.json({}));
  await request(counting, '/openapi.json');

  expect(getRoutes).toHaveBeenCalledTimes(2); // for the check at the start, and for the document
  expect(new Set(responses.map((response) => response.headers.get('etag'))).size).toBe(1);
  expect(Object.keys((await readDocument(counting)).paths)).toEqual([
    '/api/users/{id}',
    '/api/later',
  ]);
  expect((await request(app, '/api/users/7')).status).toBe(200);
});

test('an application that starts logs request schemas without a JSON Schema form', async () => {
  const { logger, problems } = recordLog();
  const isEven = z.custom<number>((value) => Number(value) % 2 === 0);
  const size = z.string().transform(Number);
  const body = z.object({ at: z.date(), count: isEven, size });
  const router = createRouter().post('/counts', validate({ body }), (ctx) => ctx.json({}));
  const app = createApp({ logger }).use(openapi({ router })).route('/', router);

  await app.ready();
  await app.ready();

  expect(problems).toEqual([
    'warn: The OpenAPI document does not describe the body of POST /counts: the type "custom" at "/count" has no JSON Schema form',
  ]);
});

test('a failed build gets 500 and is tried again', async () => {
  const described = endpoint({ responses: { 200: { schema: {} } } });
  const toJsonSchema = vi
    .fn(() => ({ type: 'object' }))
    .mockImplementationOnce(() => {
      throw new Error('not yet');
    });
  const { app } = createDocumentedApp({
    routers: [createRouter().get('/u', described, (ctx) => ctx.json({}))],
    toJsonSchema,
  });

  expect((await request(app, '/openapi.json')).status).toBe(500);
  expect((await request(app, '/openapi.json')).status).toBe(200);
});

test.each(['/openapi.json', '/docs'])(
  'HEAD %s has the headers of GET and no body',
  async (path) => {
    const { app } = createDocumentedApp();

    const get = await request(app, path);
    const head = await request(app, path, { method: 'HEAD' });

    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['etag', 'content-type', 'content-length', 'cache-control']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  },
);

test.each(['/openapi.json', '/docs'])(
  '%s gets 304 for a client that already has it',
  async (path) => {
    const { app } = createDocumentedApp();
    const etag = (await request(app, path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);

    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await request(app, path, { headers: { 'If-None-Match': condition } });
      expect([condition, response.status]).toEqual([condition, 304]);
      expect(response.headers.get('etag')).toBe(etag);
      expect(response.headers.get('cache-control')).toBe('no-cache');
    }
    const changed = await request(app, path, { headers: { 'If-None-Match': '"other"' } });
    expect(changed.status).toBe(200);
  },
);

test.each(['/OpenAPI.json', '/openapi.json/', '/%6Fpenapi.json'])(
  '%s is the document, as a route would be',
  async (path) => {
    expect((await request(createDocumentedApp().app, path)).status).toBe(200);
  },
);

test.each([
  ['POST', '/openapi.json'],
  ['DELETE', '/docs'],
  ['GET', '/openapi.jsonx'],
  ['GET', '/docs/x'],
  ['GET', '/dogs'],
])('%s %s is neither document nor page: 404', async (method, path) => {
  expect((await request(createDocumentedApp().app, path, { method })).status).toBe(404);
});

test('the page with a trailing slash redirects to the page without, so that relative links work', async () => {
  const { app } = createDocumentedApp({ docs: '/v1/docs' });

  const response = await request(app, '/v1/docs/');

  expect(response.status).toBe(301);
  expect(new URL(response.headers.get('location') ?? '', 'http://a/v1/docs/').pathname).toBe(
    '/v1/docs',
  );
});

test.each([
  [{ docs: false }, 200, 404],
  [{ enabled: false }, 404, 404],
] as const)(
  'with %o the document has the status %i and the page %i',
  async (options, ...statuses) => {
    const { app } = createDocumentedApp(options);
    const paths = ['/openapi.json', '/docs', '/api/users/7'];

    const responses = await Promise.all(paths.map((path) => request(app, path)));

    expect(responses.map(({ status }) => status)).toEqual([...statuses, 200]);
  },
);

test('it responds with 200 also after the routes', async () => {
  const router = createRouter().get('/u', (ctx) => ctx.json({}));
  const app = createApp().route('/', router).use(openapi({ router }));

  expect((await request(app, '/openapi.json')).status).toBe(200);
});

test('an existing response is not replaced', async () => {
  const router = createRouter();
  const app = createApp().use((ctx, next) => {
    ctx.json({ mine: true });
    return next();
  });
  app.use(openapi({ router }));

  expect(await (await request(app, '/openapi.json')).json()).toEqual({ mine: true });
});

test.each([
  [{}, 'option router "undefined" of openapi(): expected a router'],
  [{ router: {} }, 'option router "{}" of openapi(): expected an object with getRoutes()'],
  [
    { routers: [null] },
    'option routers "[ null ]" of openapi(): expected a list of objects with getRoutes()',
  ],
  [
    { router: createRouter(), routers: [] },
    'option routers "[]" of openapi(): expected either router or routers',
  ],
  [{ path: 'openapi.json' }, 'option path "openapi.json" of openapi(): expected a path'],
  [{ docs: 'docs' }, 'option docs "docs" of openapi(): expected a path, false, or an object'],
  [
    { docs: '/openapi.json' },
    'option docs "/openapi.json" of openapi(): expected another path than the document',
  ],
  [
    { docs: { ui: 'redoc' } },
    'option ui "redoc" of docs of openapi(): expected one of "fw", "scalar", "swagger"',
  ],
  [{ docs: { cdn: 'xhttp://a' } }, 'option cdn "xhttp://a" of docs'],
  [{ docs: { cdn: new URL('http://a') } }, 'of docs of openapi(): expected an http URL'],
  [{ docs: { url: '/docs' } }, 'docs of openapi() has no option "url"; its options: path, ui, cdn'],
  [{ exclude: ['admin'] }, 'option exclude "[ \'admin\' ]" of openapi(): expected a list of paths'],
  [
    { info: { title: 1 } },
    'option info "{ title: 1 }" of openapi(): expected an object such as { title, version }',
  ],
  [{ servers: [] }, 'option servers "[]" of openapi(): expected a list'],
  [{ info: { version: 1 } }, 'option info "{ version: 1 }" of openapi(): expected an object'],
  [
    { info: { description: 1 } },
    'option info "{ description: 1 }" of openapi(): expected an object',
  ],
  [{ servers: [{ url: '/' }, { url: 1 }] }, 'of openapi(): expected a list such as [{ url: '],
  [{ titel: 'x' }, 'openapi() has no option "titel"; its options: router, routers, path, docs'],
])('openapi(%j) throws at start', (options, message) => {
  const isAboutRouters =
    Object.keys(options).length === 0 || 'router' in options || 'routers' in options;
  const given = { ...(isAboutRouters ? {} : { router: createRouter() }), ...options };

  expect(() => openapi(given as OpenApiOptions)).toThrow(message);
});
