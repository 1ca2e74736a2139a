import { Writable } from 'node:stream';

import { expect, test } from 'vitest';

import {
  createLogger,
  type LoggerOptions,
  openPrettyOutput,
  type RequestEntry,
} from './logging.ts';

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

test('the pretty format of a request is one short line', async () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const output = await openPrettyOutput({ destination, colorize: false });
  const logger = createLogger('users', { output });

  logger.request?.({ ...REQUEST, userId: 'ada' });
  logger.request?.({ ...REQUEST, route: '', status: 404 });
  logger.request?.({ ...REQUEST, status: 101, closeCode: 1001, via: 'mcp' });
  logger.error('failed', new Error('outer'));

  const time = String.raw`\d\d:\d\d:\d\d`;
  expect(lines[0]).toMatch(
    new RegExp(`^${time} INFO: GET /api/v2/users/:id 200 1.2 ms  ada  abc\n$`),
  );
  expect(lines[1]).toMatch(new RegExp(`^${time} INFO: GET \\(no route\\) 404 1.2 ms  abc\n$`));
  expect(lines[2]).toMatch(/ 101 1.2 ms {2}closed with 1001 {2}mcp {2}abc\n$/);
  expect(lines[3]).toMatch(new RegExp(`^${time} ERROR: failed\n {4}error: Error: outer\n {8}at `));
});
