import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, createApp, listen, type Middleware } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { quiet, recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, onTestFinished, test } from 'vitest';
import { memoryStore } from './memory-store.ts';
import { type RateLimitOptions, rateLimit, tieredRateLimit } from './rate-limit.ts';
import type { RateLimitStore } from './store.ts';

const ok: Middleware = (ctx) => ctx.send('ok');

function appWith(...middleware: readonly Middleware[]) {
  const app = createApp({ logger: quiet, trustProxy: 1 });
  return app.use(errorHandler(), ...middleware, ok);
}

type App = ReturnType<typeof appWith>;

/** The responses to requests for these paths, one after the other. */
async function responsesTo(app: App, ...paths: readonly string[]): Promise<Response[]> {
  const responses = [];
  for (const path of paths) responses.push(await request(app, path));
  return responses;
}

const statusesOf = (responses: readonly Response[]) => responses.map(({ status }) => status);

/** The statuses of requests by these addresses, one after the other. */
async function statusesBy(app: App, ...ips: readonly string[]): Promise<number[]> {
  const statuses = [];
  for (const ip of ips) {
    statuses.push((await request(app, '/', { headers: { 'X-Forwarded-For': ip } })).status);
  }
  return statuses;
}

test('every limited response has the remaining limit', async () => {
  const app = appWith(rateLimit({ max: 2, window: '1m' }));

  const responses = await responsesTo(app, '/', '/', '/');

  const names = ['Limit', 'Remaining', 'Reset', 'Policy'].map((name) => `RateLimit-${name}`);
  const fields = [...names, 'Retry-After'];
  expect(responses.map(({ headers }) => fields.map((name) => headers.get(name)))).toEqual([
    ['2', '1', '60', null, null],
    ['2', '0', '60', null, null],
    ['2', '0', '60', null, '60'],
  ]);
});

test('a client that must wait for less than a second gets one second', async () => {
  const hit = () => ({ allowed: false, remaining: 0, resetMs: 10 });
  const app = appWith(rateLimit({ store: { counter: () => ({ hit }) } }));

  const response = await request(app, '/');

  expect(response.headers.get('Retry-After')).toBe('1');
  expect(await response.json()).toMatchObject({
    detail: 'Too many requests: try again in 1 second',
  });
});

test('a request over the limit gets a problem of type quota-exceeded', async () => {
  const app = appWith(rateLimit({ max: 1, window: '30s' }));

  const [, response] = await responsesTo(app, '/', '/');

  expect(response?.status).toBe(429);
  expect(response?.headers.get('Content-Type')).toBe('application/problem+json');
  expect(await response?.json()).toMatchObject({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too Many Requests',
    status: 429,
    detail: 'Too many requests: try again in 30 seconds',
    code: 'RATE_LIMITED',
  });
});

test('two limiters on one route both count, and the headers report the stricter', async () => {
  const app = appWith(
    rateLimit({ max: 3, window: '1h', headers: 'draft-10', name: 'hourly' }),
    rateLimit({ max: 2, window: '1s', headers: 'draft-10' }),
    rateLimit({ max: 50, window: '1d', headers: 'draft-10' }),
  );

  const responses = await responsesTo(app, '/', '/', '/', '/');

  const fields = ['RateLimit-Limit', 'RateLimit-Remaining', 'Retry-After'];
  expect(responses.map(({ headers }) => fields.map((name) => headers.get(name)))).toEqual([
    ['2', '1', null],
    ['2', '0', null],
    ['2', '0', '1'],
    // The third request counted for the first limiter, whose limit is used up now.
    ['3', '0', '3600'],
  ]);
  expect(responses[0]?.headers.get('RateLimit-Policy')).toBe(
    '"hourly";q=3;w=3600, "2-per-1s";q=2;w=1, "50-per-1d";q=50;w=86400',
  );
  expect(responses[0]?.headers.get('RateLimit')).toBe(
    '"hourly";r=2;t=3600, "2-per-1s";r=1;t=1, "50-per-1d";r=49;t=86400',
  );
});

test.each<readonly [RateLimitOptions, readonly string[], readonly number[]]>([
  [{}, ['192.0.2.1', '192.0.2.2', '192.0.2.1'], [200, 200, 429]],
  [{}, ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'], [200, 429, 200]],
  [{ ipv6Subnet: 128 }, ['2001:db8::1', '2001:db8::2'], [200, 200]],
  [{ keyGenerator: ({ ip }) => ip.slice(0, 8) }, ['192.0.2.1', '192.0.2.2'], [200, 429]],
])('with %j, requests by %j get %j', async (options, ips, statuses) => {
  const app = appWith(rateLimit({ max: 1, ...options }));

  expect(await statusesBy(app, ...ips)).toEqual(statuses);
});

test.each<[keyof RateLimitOptions, string, unknown, string]>([
  ['keyGenerator', 'undefined', undefined, 'Cannot limit by key "undefined"'],
  ['keyGenerator', 'a promise', Promise.resolve('key'), 'keyGenerator must return a text'],
  ['skip', 'a promise', Promise.resolve(false), 'skip must return true or false'],
  ['cost', 'a number below 0', -1, 'Cannot count "-1": cost must return a whole number from 0 on'],
])('a %s that returns %s causes a 500 and a log line', async (option, _, result, message) => {
  const { logger, errors } = recordLog();
  const app = createApp({ logger });
  app.use(errorHandler(), rateLimit({ [option]: () => result }), ok);

  expect((await request(app, '/')).status).toBe(500);
  expect(String(errors[0])).toContain(message);
});

test('a client that disconnects before it is counted causes no error', async () => {
  const { logger, problems } = recordLog();
  const app = createApp({ logger });
  let counted: unknown;
  app.use(
    async (ctx, next) => {
      const left = once(ctx.raw.res, 'close');
      ctx.raw.req.socket.destroy();
      await left;
      await next();
    },
    async (_ctx, next) => {
      await next().catch((error: unknown) => {
        counted = error;
        throw error;
      });
    },
    rateLimit(),
  );
  const server = await listen(app, { port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());

  await fetch(`http://127.0.0.1:${server.port}/`).catch(() => {});

  await expect
    .poll(() => counted)
    .toMatchObject({ status: 499, message: 'The client has disconnected' });
  expect(problems).toEqual([]);
});

test('a request over a Unix socket has no address, so it needs a keyGenerator', async () => {
  const { logger, errors } = recordLog();
  const app = createApp({ logger });
  app.use(errorHandler(), rateLimit(), ok);
  const directory = mkdtempSync(join(tmpdir(), 'rate-limit-'));
  const socketPath = join(directory, 'socket');
  const server = createServer(app.handle).listen(socketPath);
  onTestFinished(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  await once(server, 'listening');

  const [response] = await once(get({ socketPath, agent: false }), 'response');
  response.resume();

  expect(response.statusCode).toBe(500);
  expect(String(errors[0])).toContain('Cannot limit by key ""');
});

test.each([{}, { countOnly: [200] }])(
  'with %j, a skipped request is neither counted nor limited, and has no headers',
  async (options) => {
    const app = appWith(rateLimit({ max: 1, skip: (ctx) => ctx.path === '/free', ...options }));

    const responses = await responsesTo(app, '/free', '/free', '/', '/', '/free');

    expect(statusesOf(responses)).toEqual([200, 200, 200, 429, 200]);
    expect(responses[0]?.headers.get('RateLimit-Limit')).toBeNull();
  },
);

test('cost sets how much a request counts', async () => {
  const app = appWith(rateLimit({ max: 10, cost: (ctx) => Number(ctx.query.cost) }));

  const responses = await responsesTo(app, '/?cost=8', '/?cost=3', '/?cost=2', '/?cost=-1');

  expect(statusesOf(responses)).toEqual([200, 429, 200, 500]);
  const remaining = responses.map(({ headers }) => headers.get('RateLimit-Remaining'));
  expect(remaining).toEqual(['2', '2', '0', null]);
});

test('handler sends the response instead of the 429', async () => {
  const handler = (ctx: Context) => {
    ctx.status = 503;
    ctx.json({ busy: ctx.state.rateLimit?.policy });
  };
  const app = appWith(rateLimit({ max: 1, handler }));
  await request(app, '/');

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('Retry-After')).toBe('60');
  expect(await response.json()).toEqual({ busy: '1-per-1m' });
});

test('a token bucket reports its burst as the limit', async () => {
  const app = appWith(rateLimit({ algorithm: 'token-bucket', max: 60, window: '1h', burst: 3 }));

  const responses = await responsesTo(app, '/', '/', '/', '/');

  expect(statusesOf(responses)).toEqual([200, 200, 200, 429]);
  expect(responses[0]?.headers.get('RateLimit-Limit')).toBe('3');
  // A token per minute, less the time that the requests took.
  const seconds = Number(responses[3]?.headers.get('Retry-After'));
  expect(seconds).toBeGreaterThan(30);
  expect(seconds).toBeLessThanOrEqual(60);
});

test('limiters add their headers and policies to the metadata', () => {
  const standard = { name: '100-per-1m', limit: 100, windowSeconds: 60 };
  const tiers = { free: { max: 5 }, pro: { max: 50, window: '1h', name: 'paid' } };

  expect(metadataOf(rateLimit())).toEqual({
    rateLimit: [{ headers: 'draft-6', policies: [standard] }],
  });
  expect(metadataOf(rateLimit({ headers: 'draft-10', countOnly: [401] }))).toEqual({
    rateLimit: [{ headers: 'draft-10', policies: [standard], countOnly: [401] }],
  });
  expect(metadataOf(tieredRateLimit({ tiers, tierResolver: () => 'free' }))).toEqual({
    rateLimit: [
      {
        headers: 'draft-6',
        policies: [
          { name: 'free', limit: 5, windowSeconds: 60 },
          { name: 'paid', limit: 50, windowSeconds: 3_600 },
        ],
      },
    ],
  });
});

/** An application whose tier is free unless `tierResolver` returns another one. */
function tieredApp(tierResolver: (ctx: Context) => string | undefined | Promise<string>) {
  return appWith(
    tieredRateLimit({
      tiers: { free: { max: 1, window: '1m' }, pro: { max: 2, window: '1m' } },
      tierResolver,
      defaultTier: 'free',
    }),
  );
}

test.each(['unknown', 'constructor', '__proto__', ''])(
  'a request with tier "%s" has the default limit',
  async (tier) => {
    const app = tieredApp(() => tier);

    expect((await request(app, '/')).headers.get('RateLimit-Limit')).toBe('1');
    expect((await request(app, '/')).status).toBe(429);
  },
);

test.each<readonly [string, (ctx: Context) => string | undefined | Promise<string>]>([
  ['a text', (ctx) => ctx.get('tier')],
  ['a promise', async (ctx) => ctx.get('tier') ?? ''],
])('each tier has its own limit if tierResolver returns %s', async (_, tierResolver) => {
  const app = tieredApp(tierResolver);
  const send = (tier: string) => request(app, '/', { headers: { Tier: tier } });

  const responses = [];
  for (const tier of ['pro', 'pro', 'pro', 'free', 'free']) responses.push(await send(tier));

  expect(statusesOf(responses)).toEqual([200, 200, 429, 200, 429]);
});

test('without defaultTier the first tier is the default', async () => {
  const app = appWith(
    tieredRateLimit({ tiers: { basic: { max: 7 }, plus: {} }, tierResolver: () => undefined }),
  );

  expect((await request(app, '/')).headers.get('RateLimit-Limit')).toBe('7');
});

/** Rejects a request without a valid token, asynchronously like a real check. */
const authenticate: Middleware = async (ctx, next) => {
  await new Promise((resolve) => setImmediate(resolve));
  if (ctx.get('x-token') !== 'good') ctx.throw(401, 'invalid token');
  await next();
};

function send(app: App, { ip = '192.0.2.1', token = 'bad' } = {}) {
  return request(app, '/', { headers: { 'X-Forwarded-For': ip, 'X-Token': token } });
}

/** A store as a user may write it: asynchronous, and without `findRefusal`. */
function createPlainStore(): RateLimitStore {
  const memory = memoryStore();
  return {
    counter: (policy) => {
      const counts = memory.counter(policy);
      return { hit: async (key, cost) => counts.hit(key, cost) };
    },
  };
}

test.each<readonly [string, RateLimitStore, string, readonly number[]]>([
  [
    'a memory store',
    memoryStore(),
    'good bad good good bad bad good',
    [200, 401, 200, 200, 401, 429, 429],
  ],
  [
    'a store without findRefusal',
    createPlainStore(),
    'bad good bad bad good',
    [401, 200, 401, 429, 200],
  ],
])('countOnly counts only requests with its statuses in %s', async (_, store, tokens, expected) => {
  const app = appWith(rateLimit({ max: 2, countOnly: [401], store }), authenticate);

  const responses = [];
  for (const token of tokens.split(' ')) responses.push(await send(app, { token }));

  expect(statusesOf(responses)).toEqual(expected);
  for (const { status, headers } of responses) {
    expect(headers.get('RateLimit-Limit')).toBe(status === 200 ? null : '2');
  }
  expect((await send(app, { ip: '192.0.2.2', token: 'good' })).status).toBe(200);
});

test('countOnly lets max of 300 parallel failures pass', async () => {
  const app = appWith(rateLimit({ max: 30, countOnly: [401] }), authenticate);

  const responses = await Promise.all(Array.from({ length: 300 }, () => send(app)));

  expect(responses.filter(({ status }) => status === 401)).toHaveLength(30);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(270);
});

test('countOnly counts a response that was sent without an error', async () => {
  const app = createApp({ logger: quiet });
  app.use(errorHandler(), rateLimit({ max: 1, countOnly: [200, 599] }), (ctx) => {
    ctx.status = 599;
    ctx.send('no');
  });

  expect(statusesOf(await responsesTo(app, '/', '/'))).toEqual([599, 429]);
});
