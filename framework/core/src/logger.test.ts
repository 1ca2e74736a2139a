import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';

import { createApp } from './application.ts';
import type { RequestLogger } from './request-log.ts';
import { request } from './testing/index.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The lines that pino writes for a request that logs. */
async function linesOf(use: (log: RequestLogger) => unknown, options = {}) {
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
      msg: 'GET /users failed with 500',
      requestId: 'r-1',
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
      requestId: 'r-1',
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
    log.error('failed', { code: 5 }, { order: 7 });
  });

  expect(lines.map(({ level, msg, err, order }) => [level, msg, err, order])).toEqual([
    [30, 'started', undefined, undefined],
    [40, 'slow: 100%s', undefined, undefined],
    [50, 'failed', undefined, undefined],
    [50, 'failed', 'a reason', undefined],
    [50, 'failed', { code: 5 }, 7],
  ]);
});

test('pino redacts the fields of a request', async () => {
  const lines = await linesOf(
    (log) => {
      log.info('sold', { card: '4711' });
      log.with({ card: '4711' }).error('failed', new Error('no stock'));
    },
    { redact: ['card'] },
  );

  expect(lines.map(({ card }) => card)).toEqual(['[Redacted]', '[Redacted]']);
});

test('a logger without a request logs with pino too', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const log = createApp({ logger }).logger;

  log.info('started');
  log.warn('slow');
  log.error('failed', undefined, { order: 7 });

  expect(lines.map(({ level, msg, order }) => [level, msg, order])).toEqual([
    [30, 'started', undefined],
    [40, 'slow', undefined],
    [50, 'failed', 7],
  ]);
});

test.each([
  ['console', { logger: console }],
  ['no logger', {}],
])('with %s, the console gets a line with the fields, and the error', async (_, options) => {
  const calls: unknown[][] = [];
  for (const method of ['info', 'warn', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((...args) => void calls.push([method, ...args]));
  }
  const error = new Error('disk broken');
  const items = Array.from({ length: 30 }, (_, at) => ({ name: `item ${at}` }));
  const app = createApp(options).use((ctx) => {
    ctx.log.info('sold\n', { text: 'a\nb' });
    ctx.log.warn('many', { items });
    throw error;
  });

  await request(app, '/users', { headers: { 'X-Request-Id': 'r-1' } });
  app.logger.error('stopped');

  expect(calls).toEqual([
    ['info', "sold\n { requestId: 'r-1', text: 'a\\nb' }"],
    ['warn', expect.stringMatching(/^many \{ requestId: 'r-1', items: \[.*'item 29' \} \] \}$/)],
    ['error', "GET /users failed with 500 { requestId: 'r-1' }", error],
    ['error', 'stopped'],
  ]);
});

test('fields that cannot be printed do not fail a request', async () => {
  const logged = vi.spyOn(console, 'info').mockImplementation(() => {});
  const app = createApp().use((ctx) => {
    const hostile = {
      [Symbol.for('nodejs.util.inspect.custom')]() {
        throw new Error('no');
      },
    };
    ctx.log.info('sold', { hostile });
    ctx.send('done');
  });

  const { status } = await request(app, '/');

  expect(status).toBe(200);
  expect(logged).toHaveBeenCalledWith('sold [fields that cannot be printed]');
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
