import { afterEach, describe, expect, test, vi } from 'vitest';

import { createApp } from './application.ts';
import type { Middleware } from './context.ts';
import { recordLog, request } from './testing/index.ts';
import { warnOfRoute, warnOnce } from './warnings.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const forgetful: Middleware = () => {};
const anonymous: readonly Middleware[] = [async (ctx) => ctx.get('x')];
const long: readonly Middleware[] = [
  (ctx) => {
    ctx.set('X-First', 'a value');
    ctx.set('X-Second', 'another value');
  },
];

describe('a middleware that neither responds nor calls next()', () => {
  test.each<readonly [string, readonly Middleware[], string]>([
    ['synchronous', [forgetful], '"forgetful"'],
    ['asynchronous', anonymous, 'async (ctx) => ctx.get("x")'],
    [
      'on several lines',
      long,
      '(ctx) => { ctx.set("X-First", "a value"); ctx.set("X-Second", "another value"); ',
    ],
  ])('is named in one warning: %s', async (_, layers, name) => {
    const { logger, problems } = recordLog();
    const app = createApp({ logger })
      .use('/', ...layers)
      .get('/', () => 'a');

    await request(app, '/');
    await request(app, '/');

    expect(problems).toEqual([
      `warn: GET / was ended by the middleware ${name}, which neither sent a response nor called next(): add return next()`,
    ]);
  });

  test('is named in a warning if it is a guard of a route', async () => {
    const { logger, problems } = recordLog();
    const app = createApp({ logger }).get('/a/:id', forgetful, () => 'a');

    expect((await request(app, '/a/1')).status).toBe(204);
    expect(problems).toEqual([
      expect.stringMatching(/^warn: GET \/a\/:id was ended by .*"forgetful"/),
    ]);
  });

  test('causes no warning in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { logger, problems } = recordLog();

    await request(createApp({ logger }).use(forgetful), '/');

    expect(problems).toEqual([]);
  });
});

test.each<readonly [string, readonly Middleware[]]>([
  ['a response', [(ctx) => ctx.json({})]],
  ['only a status', [(ctx) => Reflect.set(ctx, 'status', 404)]],
  ['a raw response', [({ raw }) => void raw.res.end()]],
  ['an error', [() => Promise.reject(new Error('no'))]],
  ['next()', [async (_ctx, next) => next(), (ctx) => ctx.json({})]],
])('middleware that ends with %s causes no warning', async (_, layers) => {
  const { logger, problems } = recordLog();

  await request(createApp({ logger }).use(...layers), '/');

  expect(problems.filter((line) => line.startsWith('warn: '))).toEqual([]);
});

test.each([
  [
    'development',
    ['warn: GET /slow has no response after 10 s: does it await a promise that never settles?'],
  ],
  ['production', []],
])('a request without a response after 10 s in %s', async (environment, expected) => {
  vi.stubEnv('NODE_ENV', environment);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { logger, problems } = recordLog();
  const started = Promise.withResolvers<void>();
  const done = Promise.withResolvers<string>();
  const app = createApp({ logger }).get('/slow', () => {
    started.resolve();
    return done.promise;
  });

  const response = request(app, '/slow');
  await started.promise;
  vi.advanceTimersByTime(9_999);
  expect(problems).toEqual([]);
  vi.advanceTimersByTime(1);
  done.resolve('late');

  expect(await (await response).text()).toBe('late');
  expect(problems).toEqual(expected);
});

test('a request with a response causes no warning after 10 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { logger, problems } = recordLog();
  const app = createApp({ logger }).get('/', () => 'a');

  await request(app, '/');
  vi.advanceTimersByTime(20_000);

  expect(problems).toEqual([]);
});

test('a response that has begun causes no warning after 10 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { logger, problems } = recordLog();
  const done = Promise.withResolvers<void>();
  const app = createApp({ logger }).get('/', async ({ raw }) => {
    raw.res.writeHead(200).flushHeaders();
    await done.promise;
    raw.res.end('a');
  });

  const response = await request(app, '/');
  vi.advanceTimersByTime(20_000);
  done.resolve();

  expect(await response.text()).toBe('a');
  expect(problems).toEqual([]);
});

test('a problem is logged once per route, and once for all requests without a route', () => {
  const { logger: log, problems } = recordLog();
  const requests = [
    { method: 'GET', path: '/a/1', route: { method: 'GET', path: '/a/:id' } },
    { method: 'GET', path: '/a/2', route: { method: 'GET', path: '/a/:id' } },
    { method: 'PUT', path: '/a/1', route: { method: 'PUT', path: '/a/:id' } },
    { method: 'GET', path: '/x' },
    { method: 'GET', path: '/y' },
  ];

  for (const each of requests) warnOfRoute({ route: undefined, ...each, log }, 'is odd', 'fix it');

  expect(problems).toEqual([
    'warn: GET /a/:id is odd: fix it',
    'warn: PUT /a/:id is odd: fix it',
    'warn: GET /x is odd: fix it',
  ]);
});

test('a logger gets at most 1,000 different warnings', () => {
  const { logger, problems } = recordLog();

  for (let subject = 0; subject < 1_010; subject++) warnOnce(logger, subject, `${subject}`);

  expect(problems).toHaveLength(1_000);
});
