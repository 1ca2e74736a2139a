import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { createApp } from './application.ts';
import type { Context } from './context.ts';
import type { LogFields, Logger } from './logger.ts';
import type { RequestLogger } from './request-log.ts';
import { recordLog, request } from './testing/index.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const ERROR = new Error('no stock');
const HEADERS = { 'X-Request-Id': 'r-1' };

/** The entries that a request for `/orders/7`, which has the id `r-1`, logs. */
async function entriesOf(use: (log: RequestLogger, ctx: Context) => unknown, options = {}) {
  const { logger, entries } = recordLog();
  const app = createApp({ logger, ...options });
  app.get('/orders/:id', async (ctx) => {
    await use(ctx.log, ctx);
    return 'done';
  });
  const response = await request(app, '/orders/7', { headers: HEADERS });
  expect(response.status).toBe(200);
  return entries;
}

/** Every order of arguments: what is logged apart from the fields of the request. */
const CALLS: readonly [
  string,
  (log: RequestLogger) => void,
  { level: string; message: string; error?: unknown; fields?: LogFields },
][] = [
  ['info(message)', (log) => log.info('sold'), { level: 'info', message: 'sold' }],
  [
    'info(message, fields)',
    (log) => log.info('sold', { order: 7 }),
    { level: 'info', message: 'sold', fields: { order: 7 } },
  ],
  [
    'info(fields, message)',
    (log) => log.info({ order: 7 }, 'sold'),
    { level: 'info', message: 'sold', fields: { order: 7 } },
  ],
  [
    'info(fields)',
    (log) => log.info({ order: 7 }),
    { level: 'info', message: '', fields: { order: 7 } },
  ],
  [
    'warn(message, fields)',
    (log) => log.warn('late', { order: 7 }),
    { level: 'warn', message: 'late', fields: { order: 7 } },
  ],
  [
    'warn(fields, message)',
    (log) => log.warn({ order: 7 }, 'late'),
    { level: 'warn', message: 'late', fields: { order: 7 } },
  ],
  ['error(message)', (log) => log.error('failed'), { level: 'error', message: 'failed' }],
  [
    'error(message, error)',
    (log) => log.error('failed', ERROR),
    { level: 'error', message: 'failed', error: ERROR },
  ],
  [
    'error(message, error, fields)',
    (log) => log.error('failed', ERROR, { order: 7 }),
    { level: 'error', message: 'failed', error: ERROR, fields: { order: 7 } },
  ],
  [
    'error(message, undefined, fields)',
    (log) => log.error('failed', undefined, { order: 7 }),
    { level: 'error', message: 'failed', fields: { order: 7 } },
  ],
  [
    'error(message, fields)',
    (log) => log.error('failed', { order: 7 }),
    { level: 'error', message: 'failed', fields: { order: 7 } },
  ],
  [
    'error(fields, message)',
    (log) => log.error({ order: 7 }, 'failed'),
    { level: 'error', message: 'failed', fields: { order: 7 } },
  ],
  [
    'error(error, message)',
    (log) => log.error(ERROR, 'failed'),
    { level: 'error', message: 'failed', error: ERROR },
  ],
  [
    'error(error)',
    (log) => log.error(ERROR),
    { level: 'error', message: 'no stock', error: ERROR },
  ],
  [
    'error({ err }, message)',
    (log) => log.error({ err: ERROR, order: 7 }, 'failed'),
    { level: 'error', message: 'failed', error: ERROR, fields: { order: 7 } },
  ],
  [
    'error({ err })',
    (log) => log.error({ err: ERROR }),
    { level: 'error', message: 'no stock', error: ERROR },
  ],
];

describe('every order of arguments', () => {
  test.each(CALLS)('of %s for a logger that takes the message first', async (_, call, expected) => {
    const entries = await entriesOf(call);

    const { fields, ...entry } = expected;
    const own = { requestId: 'r-1', route: '/orders/:id' };
    expect(entries).toEqual([{ ...entry, fields: { ...own, ...fields } }]);
  });

  test.each(CALLS)('of %s for pino', async (_, call, expected) => {
    const lines: unknown[] = [];
    const logger = pino(
      { base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
      {
        write: (line) => void lines.push(JSON.parse(line)),
      },
    );

    await entriesOf(call, { logger });

    const { level, message, error, fields } = expected;
    expect(lines).toEqual([
      {
        level,
        msg: message,
        requestId: 'r-1',
        route: '/orders/:id',
        ...fields,
        ...(error !== undefined && { err: expect.objectContaining({ message: 'no stock' }) }),
      },
    ]);
  });

  test.each(CALLS)('of %s for console', async (_, call, expected) => {
    const { level, message, error, fields } = expected;
    const logged = vi.spyOn(console, level as keyof Logger).mockImplementation(() => {});

    await entriesOf(call, { logger: console });

    const own = "requestId: 'r-1', route: '/orders/:id'";
    const line = `${message} { ${own}${fields ? ', order: 7' : ''} }`;
    expect(logged.mock.calls).toEqual([error === undefined ? [line] : [line, error]]);
  });
});

test('an error in place of fields is logged as err', async () => {
  const entries = await entriesOf((log) => {
    log.warn('late', ERROR);
    log.info(ERROR);
  });

  expect(entries).toMatchObject([
    { level: 'warn', message: 'late', fields: { err: ERROR } },
    { level: 'info', message: 'no stock', fields: { err: ERROR } },
  ]);
});

test('an error of another realm is an error', async () => {
  const foreign = { name: 'Error', message: 'no stock', stack: 'Error: no stock' };

  expect(await entriesOf((log) => log.error('failed', foreign))).toMatchObject([
    { message: 'failed', error: foreign },
  ]);
});

test('a thrown object with fields, or a thrown text, is the error', async () => {
  const entries = await entriesOf((log) => {
    log.error('failed', { code: 5 }, { order: 7 });
    log.error('failed', 'no disk');
  });

  expect(entries).toMatchObject([
    { error: { code: 5 }, fields: { order: 7 } },
    { error: 'no disk' },
  ]);
});

test('with() adds fields to all later lines of the request, also of failures, and of no other', async () => {
  const { logger, entries } = recordLog();
  const app = createApp({ logger });
  app.get('/a', (ctx) => {
    ctx.log.info('before');
    const { log } = ctx;
    ctx.log.with({ tenant: 'a', order: 1 }).with({ cart: 2 }).info('during', { order: 7 });
    log.info('after');
    throw ERROR;
  });
  app.get('/b', (ctx) => {
    ctx.log.info('other');
    return 'done';
  });

  await request(app, '/a', { headers: HEADERS });
  await request(app, '/b', { headers: HEADERS });

  const own = { requestId: 'r-1', route: '/a' };
  expect(entries.map(({ message, fields }) => [message, fields])).toEqual([
    ['before', own],
    ['during', { ...own, tenant: 'a', order: 7, cart: 2 }],
    ['after', { ...own, tenant: 'a', order: 1, cart: 2 }],
    ['GET /a failed with 500', { ...own, tenant: 'a', order: 1, cart: 2 }],
    ['other', { requestId: 'r-1', route: '/b' }],
  ]);
});

test('a line before a route matched, or without one, has no route', async () => {
  const { logger, entries } = recordLog();
  const app = createApp({ logger });
  app.use((ctx, next) => {
    ctx.log.info('before');
    return next();
  });
  app.get('/a', () => 'done');

  await request(app, '/a', { headers: HEADERS });

  expect(entries).toEqual([{ level: 'info', message: 'before', fields: { requestId: 'r-1' } }]);
});

test.each<[string, object, string | undefined]>([
  ['the user that a guard has set', { user: { id: 'ada' } }, 'ada'],
  ['a user with a number', { user: { id: 7 } }, '7'],
  ['the session', { session: { data: { userId: 'ada' } } }, 'ada'],
  ['the user, not the session', { user: { id: 'ada' }, session: { data: { userId: 'b' } } }, 'ada'],
  ['a session without a user', { session: { data: {} } }, undefined],
  ['no session', { session: { data: undefined } }, undefined],
  ['a user without an id', { user: {} }, undefined],
  ['an id that is no text', { user: { id: { toString: () => 'x' } } }, undefined],
  ['no user', {}, undefined],
])('a line has the id of %s', async (_, state, userId) => {
  const [entry] = await entriesOf((log, ctx) => {
    Object.assign(ctx.state, state);
    log.info('sold');
  });

  expect(entry?.fields?.userId).toBe(userId);
});

test('a line has the fields of the option logFields', async () => {
  const logFields = (ctx: Context) => ({ traceId: `trace of ${ctx.path}` });

  const [entry] = await entriesOf((log) => log.info('sold'), { logFields });

  expect(entry?.fields).toMatchObject({ requestId: 'r-1', traceId: 'trace of /orders/7' });
});

test('no field replaces one of the request', async () => {
  const logFields = () => ({ traceId: 't-1' });
  const forged = { requestId: 'x', route: 'x', userId: 'x', traceId: 'x' };

  const entries = await entriesOf(
    (log, ctx) => {
      ctx.state.user = { id: 'ada' };
      log.info('sold', forged);
      log.with(forged).info('sold');
    },
    { logFields },
  );

  const own = { requestId: 'r-1', route: '/orders/:id', userId: 'ada', traceId: 't-1' };
  expect(entries.map(({ fields }) => fields)).toEqual([own, own]);
});

test('getters that throw and a failing logFields do not fail a request', async () => {
  const hostile = {
    get secret() {
      throw new Error('no access');
    },
  };
  const entries = await entriesOf(
    (log) => {
      log.info('sold', hostile);
      log.with(hostile).info('sold');
    },
    {
      logFields: () => {
        throw new Error('no trace');
      },
    },
  );

  const fields = {
    requestId: 'r-1',
    logFields: 'failed: Error: no trace',
    fields: '[cannot be read: Error: no access]',
  };
  expect(entries.map((entry) => entry.fields)).toEqual([fields, fields]);
});

test('the methods of the logger need no object', async () => {
  const entries = await entriesOf(async ({ error }) => {
    await Promise.reject(ERROR).catch(error);
  });

  expect(entries).toMatchObject([{ level: 'error', message: 'no stock', error: ERROR }]);
});

test('an object of an interface can be the fields', async () => {
  interface Order {
    readonly id: number;
  }
  const order: Order = { id: 7 };

  const entries = await entriesOf((log) => {
    log.info('sold', order);
    log.warn(order, 'late');
    log.error('failed', ERROR, order);
    log.with(order).info('sent');
  });

  expect(entries.map(({ fields }) => fields?.id)).toEqual([7, 7, 7, 7]);
});

test('all lines of a request are from one logger, which fits where a Logger is expected', async () => {
  const [entry] = await entriesOf((log, ctx) => {
    expect(ctx.log).toBe(log);
    const plain: Logger = ctx.log;
    plain.error('failed', ERROR, { order: 7 });
  });

  expect(entry).toMatchObject({ message: 'failed', error: ERROR, fields: { order: 7 } });
});
