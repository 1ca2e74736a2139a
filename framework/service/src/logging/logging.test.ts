import { request } from '@fw/core/testing';
import { createApp, type RequestLogger } from 'fw';
import { describe, expect, test } from 'vitest';

import { createLogger, type LoggerOptions, type RequestEntry } from './logging.ts';

const REQUEST: RequestEntry = {
  method: 'GET',
  route: '/api/v2/users/:id',
  status: 200,
  durationMs: 1.234,
  requestId: 'abc',
  userId: undefined,
  traceId: undefined,
  via: undefined,
};

const TIME = /"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/;

function recordingLogger(options: LoggerOptions = {}) {
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  return { lines, logger: createLogger('users', { output, ...options }) };
}

test('a logger writes one JSON object per line for any message', () => {
  const { lines, logger } = recordingLogger();

  logger.info('GET /a\n{"level":"info"}');
  logger.warn('slow');

  expect(lines.map((line) => line.replace(TIME, '"time":"T"'))).toEqual([
    '{"level":"info","time":"T","service":"users","message":"GET /a\\n{\\"level\\":\\"info\\"}"}\n',
    '{"level":"warn","time":"T","service":"users","message":"slow"}\n',
  ]);
});

test('a logger writes the stack of an error and of its cause', () => {
  const { lines, logger } = recordingLogger();

  logger.error('failed', new Error('outer', { cause: new RangeError('inner') }));

  const { error } = JSON.parse(lines[0] ?? '');
  expect(error).toMatch(/Error: outer\n {4}at /);
  expect(error).toMatch(/RangeError: inner\n {6,}at /);
});

test('a logger writes the stack of a shared cause once', () => {
  const { lines, logger } = recordingLogger();
  const cause = new Error('connect ECONNREFUSED');

  logger.error('GET /a', new Error('no response', { cause }));
  logger.error('GET /b', new Error('no response', { cause }));
  logger.error('GET /c', new Error('no response', { cause: new Error('connect ECONNREFUSED') }));

  const [first, second, third] = lines.map((line) => JSON.parse(line).error);
  expect(first).toMatch(/Error: no response\n {4}at /);
  expect(second).toBe('Error: no response');
  expect(third).toMatch(/Error: no response\n {4}at /);
});

test('a logger omits lines below its level', () => {
  const { lines, logger } = recordingLogger({ level: 'warn' });

  logger.info('listening');
  logger.warn('slow');

  expect(lines).toHaveLength(1);
  expect(logger.request).toBeUndefined();
});

test('the line of a request has its route, status, duration in milliseconds and ids', () => {
  const { lines, logger } = recordingLogger();

  logger.request?.({ ...REQUEST, userId: 'a"da\n', traceId: 'f00', via: 'mcp' });

  expect(lines[0]).toMatch(/^{"level":"info","time":"[^"]+".*}\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.any(String),
    service: 'users',
    method: 'GET',
    route: '/api/v2/users/:id',
    status: 200,
    durationMs: 1.234,
    requestId: 'abc',
    userId: 'a"da\n',
    traceId: 'f00',
    via: 'mcp',
    message: 'request',
  });
});

test('the line of a WebSocket has its close code', () => {
  const { lines, logger } = recordingLogger();

  logger.request?.({ ...REQUEST, status: 101, closeCode: 1001 });

  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    status: 101,
    closeCode: 1001,
    message: 'websocket closed',
  });
});

test('a logger writes an error that is a text, or none, without a stack', () => {
  const { lines, logger } = recordingLogger();

  logger.error('failed');
  logger.error('failed', 'no disk');
  logger.error('failed', { code: 5 });

  expect(lines.map((line) => [JSON.parse(line).level, JSON.parse(line).error])).toEqual([
    ['error', undefined],
    ['error', 'no disk'],
    ['error', '{ code: 5 }'],
  ]);
});

test('a logger compares only causes that are objects', () => {
  const { lines, logger } = recordingLogger();

  for (const cause of [null, null, 'text', 'text']) {
    logger.error('failed', new Error('no response', { cause }));
  }

  for (const line of lines) expect(JSON.parse(line).error).toMatch(/no response\n {4}at /);
});

/** The lines that a request for `/orders/7`, which has the id `r-1`, logs; without their time. */
async function linesOf(use: (log: RequestLogger) => unknown, options: LoggerOptions = {}) {
  const { lines, logger } = recordingLogger(options);
  const app = createApp({ logger });
  app.get('/orders/:id', (ctx) => {
    use(ctx.log);
    return 'done';
  });
  const { status } = await request(app, '/orders/7', { headers: { 'X-Request-Id': 'r-1' } });
  expect(status).toBe(200);
  return lines.map((line) => {
    const { time, ...others } = JSON.parse(line);
    return others;
  });
}

const ERROR = new Error('no stock');
const OWN = { service: 'users', requestId: 'r-1', route: '/orders/:id' };
const STACK = { error: expect.stringMatching(/^Error: no stock\n {4}at /) };

test.each<[string, (log: RequestLogger) => void, object]>([
  ['info(message)', (log) => log.info('sold'), { level: 'info', message: 'sold' }],
  [
    'info(message, fields)',
    (log) => log.info('sold', { order: 7 }),
    { level: 'info', message: 'sold', order: 7 },
  ],
  [
    'info(fields, message)',
    (log) => log.info({ order: 7 }, 'sold'),
    { level: 'info', message: 'sold', order: 7 },
  ],
  [
    'warn(fields, message)',
    (log) => log.warn({ order: 7 }, 'late'),
    { level: 'warn', message: 'late', order: 7 },
  ],
  [
    'warn(error, message)',
    (log) => log.warn(ERROR, 'late'),
    { level: 'warn', message: 'late', ...STACK },
  ],
  [
    'error(message, error, fields)',
    (log) => log.error('failed', ERROR, { order: 7 }),
    { level: 'error', message: 'failed', ...STACK, order: 7 },
  ],
  [
    'error(error, message)',
    (log) => log.error(ERROR, 'failed'),
    { level: 'error', message: 'failed', ...STACK },
  ],
  [
    'error({ err }, message)',
    (log) => log.error({ err: ERROR, order: 7 }, 'failed'),
    { level: 'error', message: 'failed', ...STACK, order: 7 },
  ],
  [
    'error(message, fields)',
    (log) => log.error('failed', { order: 7 }),
    { level: 'error', message: 'failed', order: 7 },
  ],
  [
    'info(message, { error })',
    (log) => log.info('sold', { error: 'none' }),
    { level: 'info', message: 'sold', error: 'none' },
  ],
])('%s of ctx.log is one line with the fields', async (_, use, expected) => {
  expect(await linesOf(use)).toEqual([{ ...OWN, ...expected }]);
});

test('an error that cannot be printed does not fail a request', async () => {
  const hostile = Object.assign(new Error('no stock'), {
    [Symbol.for('nodejs.util.inspect.custom')]() {
      throw new Error('no');
    },
  });

  const [line] = await linesOf((log) => log.error('failed', hostile, { hostile }));

  expect(line).toMatchObject({
    message: 'failed',
    error: '[an error that cannot be printed]',
    hostile: '[cannot be logged: no]',
  });
});

test('fields follow the members of a line, and replace none', () => {
  const { lines, logger } = recordingLogger();
  const forged = { time: 0, level: 'x', service: 'x', message: 'x', error: 'x' };

  logger.error('failed', 'no disk', { ...forged, order: 7 });
  logger.request?.({ ...REQUEST, fields: { ...forged, method: 'x', status: 0, tenant: 'acme' } });
  logger.info('sold', JSON.parse('{ "__proto__": { "a": 1 }, "constructor": 2 }'));

  const [message, entry, hostile] = lines.map((line) => line.replace(TIME, '"time":"T"'));
  expect(message).toBe(
    '{"level":"error","time":"T","service":"users","error":"no disk","message":"failed","order":7}\n',
  );
  expect(JSON.parse(entry ?? '')).toEqual({
    level: 'info',
    time: 'T',
    service: 'users',
    ...{ method: 'GET', route: '/api/v2/users/:id', status: 200, durationMs: 1.234 },
    ...{ requestId: 'abc', error: 'x', tenant: 'acme', message: 'request' },
  });
  expect(hostile).toContain('"message":"sold","__proto__":{"a":1},"constructor":2}');
});

test('a line has at most 16 Ki characters of message, of error and of fields', () => {
  const { lines, logger } = recordingLogger();
  const long = 'x'.repeat(1_000_000);

  logger.error(long, long, { long, other: 7 });

  expect(lines[0]?.length).toBeLessThan(3 * 16_384 + 200);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    message: `${'x'.repeat(16_384)}…`,
    error: `${'x'.repeat(16_384)}…`,
    '…': 'omitted',
  });
});

describe('redact', () => {
  const fields = {
    password: 'p',
    user: { email: 'e', name: 'Ada' },
    items: [{ token: 't', id: 1 }, { token: 't' }],
  };

  test.each<[string[], object]>([
    [['password'], { ...fields, password: '[Redacted]' }],
    [['user.email'], { ...fields, user: { email: '[Redacted]', name: 'Ada' } }],
    [['user["email"]'], { ...fields, user: { email: '[Redacted]', name: 'Ada' } }],
    [['*.email', 'none.at.all'], { ...fields, user: { email: '[Redacted]', name: 'Ada' } }],
    [
      ['items[*].token'],
      { ...fields, items: [{ token: '[Redacted]', id: 1 }, { token: '[Redacted]' }] },
    ],
    [['items'], { ...fields, items: '[Redacted]' }],
  ])('%j replaces these values only', async (redact, expected) => {
    const lines = await linesOf((log) => log.info('sold', fields), { redact });

    expect(lines).toEqual([{ ...OWN, level: 'info', message: 'sold', ...expected }]);
    expect(fields.password).toBe('p');
  });

  test('applies to what with() adds, to the line of a request and to its user', async () => {
    const redact = ['password', 'userId'];
    const { lines, logger } = recordingLogger({ redact });

    const [line] = await linesOf((log) => log.with({ password: 'p' }).info('sold'), { redact });
    logger.request?.({ ...REQUEST, userId: 'ada', fields: { password: 'p' } });

    const redacted = { password: '[Redacted]' };
    expect(line).toMatchObject(redacted);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ ...redacted, userId: '[Redacted]' });
  });

  test('changes no prototype', async () => {
    const redact = ['__proto__.toString', 'user.constructor.name', 'user.__proto__.valueOf'];
    await linesOf((log) => log.info('sold', fields), { redact });
    recordingLogger({ redact }).logger.request?.(REQUEST);

    expect(String({})).toBe('[object Object]');
    expect(Object.name).toBe('Object');
  });

  test.each(['', 'a..b', 'a.', '.a', 'items[', 'items[*', 'items[]', 'a b', 'a,b', 'a*'])(
    'throws for the path "%s"',
    (path) => {
      expect(() => createLogger('users', { redact: ['ok', path] })).toThrow(
        new TypeError(`Cannot redact "${path}": expected a path such as "items[*].token"`),
      );
    },
  );
});
