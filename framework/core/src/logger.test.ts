import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';

import { createApp } from './application.ts';
import { type Logger, warnOfRoute, warnOnce } from './logger.ts';
import { recordLog, request } from './testing/index.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The lines that `logger` writes for a failed request and some messages. */
async function linesOf(use: (log: Logger) => unknown, options = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(options, { write: (line) => void lines.push(JSON.parse(line)) });
  const app = createApp({ logger }).use(async (ctx) => {
    await use(ctx.log);
    ctx.send('done');
  });
  await request(app, '/users', { headers: { 'X-Request-Id': 'r-1' } });
  return lines;
}

test('pino logs the message, the error and its stack when a request fails', async () => {
  const lines = await linesOf(() => {
    throw new Error('disk broken', { cause: new Error('no such device') });
  });

  expect(lines).toEqual([
    expect.objectContaining({
      level: 50,
      msg: 'GET /users failed with 500 (request r-1)',
      err: expect.objectContaining({ type: 'Error', message: 'disk broken: no such device' }),
    }),
  ]);
  expect(JSON.stringify(lines)).toContain('logger.test.ts');
});

test('pino uses its own errorKey', async () => {
  const lines = await linesOf((log) => log.error('it failed', new Error('disk broken')), {
    errorKey: 'error',
  });

  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'it failed',
      error: expect.objectContaining({ message: 'disk broken', stack: expect.any(String) }),
    }),
  ]);
});

test('pino logs messages unchanged, with a value that is not an Error', async () => {
  const lines = await linesOf((log) => {
    log.info('started');
    log.warn('slow: 100%s');
    log.error('failed');
    log.error('failed', 'a reason');
  });

  expect(lines.map(({ level, msg, err }) => [level, msg, err])).toEqual([
    [30, 'started', undefined],
    [40, 'slow: 100%s', undefined],
    [50, 'failed', undefined],
    [50, 'failed', 'a reason'],
  ]);
});

test('console gets the message and the error', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const error = new Error('disk broken');
  const app = createApp({ logger: console }).use(() => {
    throw error;
  });

  await request(app, '/users', { headers: { 'X-Request-Id': 'r-1' } });

  expect(logged.mock.calls).toEqual([['GET /users failed with 500 (request r-1)', error]]);
  expect(app.logger).toBe(console);
});

test.each([
  ['no method', {}],
  ['a property', { bindings: 'no method' }],
])('a logger with %s "bindings" gets the message first', (_, more) => {
  const calls: unknown[][] = [];
  const logger = { info() {}, warn() {}, error: (...args: unknown[]) => void calls.push(args) };

  createApp({ logger: { ...logger, ...more } }).logger.error('it failed', 'a reason');

  expect(calls).toEqual([['it failed', 'a reason']]);
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
