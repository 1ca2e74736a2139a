import { openConnection, quiet, request } from '@fw/core/testing';
import { cors } from '@fw/middleware/cors';
import { etag } from '@fw/middleware/etag';
import { createRouter, notFoundHandler } from 'fw';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordLog } from '../testing/log.ts';
import { serve } from '../testing/vitest.ts';
import { createServiceApp } from './service-app.ts';

/** A service with routes of several kinds, and the lines of its requests. */
function newService() {
  const router = createRouter()
    .get('/users/:id', (ctx) => {
      ctx.state.user = { id: 'ada' };
      ctx.json({});
    })
    .get('/later', async (ctx) => {
      await null;
      ctx.json({});
    })
    .get('/silent', () => {})
    .get('/broken', () => {
      throw new Error('secret');
    });
  const { requests: entries, logger } = recordLog();
  return { app: createServiceApp({ logger }).route('/api', router), entries };
}

describe('a page of another origin', () => {
  const ORIGIN = 'https://app.example.com';
  const preflight = { 'Access-Control-Request-Method': 'PUT' };

  /** A service whose only place for requests is taken, if `isFull`. */
  async function newCorsService({ isFull = false } = {}) {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const app = createServiceApp({
      logger: quiet,
      outermost: cors({ origin: [ORIGIN] }),
      shedding: { maxInFlight: 1 },
      requestTimeoutMs: 50,
    });
    app.get('/hang', () => new Promise(() => {}));
    app.get('/wait', () => {
      begun.resolve();
      return end.promise;
    });
    app.use(notFoundHandler());
    if (isFull) {
      const waiting = request(app, '/wait');
      onTestFinished(async () => {
        end.resolve();
        await waiting;
      });
      await begun.promise;
    }
    return app;
  }

  test.each([
    ['load shedding', '/', { isFull: true }, 503],
    ['an ambiguous path', '/a/../b', {}, 400],
    ['a malformed path', '/%ZZ', {}, 400],
    ['a malformed query', '/?a=%ZZ', {}, 400],
    ['a path without a route', '/', {}, 404],
    ['the time limit', '/hang', {}, 503],
  ])('can read the response of %s', async (_, path, state, status) => {
    const response = await request(await newCorsService(state), path, { headers: { ORIGIN } });

    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(response.headers.get('vary')).toBe('Origin');
    expect(response.headers.get('x-request-id')).toMatch(/./);
  });

  test('gets a preflight response during overload', async () => {
    const response = await request(await newCorsService({ isFull: true }), '/', {
      method: 'OPTIONS',
      headers: { ORIGIN, ...preflight },
    });

    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toContain('PUT');
  });
});

test.each([
  '/api/users/1',
  '/api/later',
  '/api/silent',
  '/api/broken',
  '/nowhere',
  '/%ZZ',
  '/a/../b',
])(
  'the response to %s has Cache-Control: no-store, and one request id in header, problem and log line',
  async (path) => {
    const { app, entries } = newService();

    const response = await request(app, path);

    const id = response.headers.get('x-request-id');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(id).toMatch(/^[\da-f]{32}$/);
    expect(entries).toMatchObject([{ requestId: id, status: response.status }]);
    if (response.status >= 400) expect(await response.json()).toMatchObject({ requestId: id });
  },
);

test('the log line of a request has its route and user, and no input of the client', async () => {
  const { app, entries } = newService();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { Authorization: 'Bearer x', Cookie: 'a=b', traceparent };

  await request(app, '/api/users/7?token=secret', { headers });

  expect(entries).toEqual([
    {
      method: 'GET',
      route: '/api/users/:id',
      status: 200,
      durationMs: expect.any(Number),
      requestId: expect.any(String),
      userId: 'ada',
      traceId: '0af7651916cd43dd8448eb211c80319c',
    },
  ]);
});

test('the lines of a handler have the id, route, user and trace of the line of the request', async () => {
  const { requests, entries, logger } = recordLog();
  const app = createServiceApp({ logger });
  app.post('/orders/:id', (ctx) => {
    ctx.state.user = { id: 'ada' };
    ctx.log.with({ tenant: 'acme' }).info('sold', { order: ctx.params.id });
    throw new Error('no stock');
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { traceparent, 'X-Request-Id': 'r-1' };

  await request(app, '/orders/7', { method: 'POST', headers });

  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const common = { requestId: 'r-1', route: '/orders/:id', userId: 'ada', traceId };
  expect(entries.map(({ message, fields }) => [message, fields])).toEqual([
    ['sold', { ...common, tenant: 'acme', order: '7' }],
    ['POST /orders/7 failed with 500', { ...common, tenant: 'acme' }],
  ]);
  expect(requests).toMatchObject([{ ...common, status: 500, fields: { tenant: 'acme' } }]);
});

test('a line of a handler without a trace has none', async () => {
  const { entries, logger } = recordLog();
  const app = createServiceApp({ logger }).use((ctx) => {
    ctx.log.info('sold');
    ctx.send('done');
  });

  await request(app, '/', { headers: { 'X-Request-Id': 'r-1' } });

  expect(entries).toEqual([{ level: 'info', message: 'sold', fields: { requestId: 'r-1' } }]);
});

test('trustProxy is the number of trusted proxies', async () => {
  const headers = { 'X-Forwarded-For': '192.0.2.7' };
  const answerIp = (trustProxy: number) =>
    request(
      createServiceApp({ logger: quiet, trustProxy }).use((ctx) => ctx.send(ctx.ip)),
      '/',
      { headers },
    );

  expect(await (await answerIp(0)).text()).toBe('127.0.0.1');
  expect(await (await answerIp(1)).text()).toBe('192.0.2.7');
});

test('responses and errors of a draining service have Connection: close', async () => {
  const drain = { isDraining: false };
  const app = createServiceApp({ logger: quiet, drain }).use((ctx) => {
    if (ctx.path === '/error') throw new Error('broken');
    ctx.json({});
  });
  const connection = async (path: string) => {
    const response = await request(app, path, { headers: { Connection: 'keep-alive' } });
    return response.headers.get('connection');
  };

  const before = await connection('/');
  drain.isDraining = true;

  expect(before).toBe('keep-alive');
  expect(await connection('/')).toBe('close');
  expect(await connection('/error')).toBe('close');
});

test.each([
  ['GET', '/', undefined, ['no-cache', true]],
  ['GET', '/', 'no-store', ['no-store', false]],
  ['GET', '/', 'private, max-age=5', ['private, max-age=5', true]],
  ['POST', '/', undefined, ['no-store', false]],
  ['GET', '/missing', undefined, ['no-store', false]],
])(
  'the default no-store becomes no-cache only if etag() adds a tag: %s %s with Cache-Control %s',
  async (method, path, cacheControl, expected) => {
    const app = createServiceApp({ logger: quiet }).use(etag(), (ctx) => {
      if (cacheControl !== undefined) ctx.set('Cache-Control', cacheControl);
      if (ctx.path === '/missing') ctx.throw(404);
      ctx.json({ a: 1 });
    });

    const { headers } = await request(app, path, { method });

    expect([headers.get('cache-control'), headers.has('etag')]).toEqual(expected);
  },
);

test('the response to an unparsable request has Cache-Control: no-store', async () => {
  const { port } = await serve(createServiceApp({ logger: quiet }));

  const connection = openConnection(port).send('nonsense\r\n\r\n');

  expect(await connection.readAll()).toContain('\r\nCache-Control: no-store\r\n');
});
