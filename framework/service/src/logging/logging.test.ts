import { expect, test } from 'vitest';

import { createLogger, type LoggerOptions, type RequestEntry } from './logging.ts';
import { openPrettyOutput } from './pretty-log.ts';

const REQUEST: RequestEntry = {
  method: 'GET',
  route: '/api/v2/users/:id',
  status: 200,
  durationMs: 1.23456,
  requestId: 'abc',
  userId: undefined,
  traceId: undefined,
};

function recordingLogger(options: LoggerOptions = {}) {
  const lines: string[] = [];
  let flushes = 0;
  const output = { write: (line: string) => lines.push(line), flush: () => flushes++ };
  const now = () => Date.parse('2026-11-21T10:00:00Z');
  const logger = createLogger('users', { output, now, ...options });
  return { lines, logger, output, flushes: () => flushes };
}

test('a logger writes one JSON object a line, whatever the message holds', () => {
  const { lines, logger } = recordingLogger();

  logger.info('GET /a\n{"level":"info"}');
  logger.warn('slow');

  expect(lines).toEqual([
    '{"level":"info","time":"2026-11-21T10:00:00.000Z","service":"users",' +
      '"message":"GET /a\\n{\\"level\\":\\"info\\"}"}\n',
    '{"level":"warn","time":"2026-11-21T10:00:00.000Z","service":"users","message":"slow"}\n',
  ]);
});

test('a logger writes the stack of an error and of its cause', () => {
  const { lines, logger } = recordingLogger();

  logger.error('failed', new Error('outer', { cause: new RangeError('inner') }));

  const { error } = JSON.parse(lines[0] ?? '');
  expect(error).toMatch(/Error: outer\n {4}at /);
  expect(error).toMatch(/RangeError: inner\n {6,}at /);
});

test('a logger tells a cause that many errors share once', () => {
  const { lines, logger } = recordingLogger();
  const cause = new Error('connect ECONNREFUSED');

  logger.error('GET /a', new Error('no answer', { cause }));
  logger.error('GET /b', new Error('no answer', { cause }));
  logger.error('GET /c', new Error('no answer', { cause: new Error('connect ECONNREFUSED') }));

  const [first, second, third] = lines.map((line) => JSON.parse(line).error);
  expect(first).toMatch(/Error: no answer\n {4}at /);
  expect(second).toBe('Error: no answer');
  expect(third).toMatch(/Error: no answer\n {4}at /);
});

test('a logger writes what is not important enough nowhere', () => {
  const { lines, logger } = recordingLogger({ level: 'warn' });

  logger.info('listening');
  logger.warn('slow');

  expect(lines).toHaveLength(1);
  expect(logger.request).toBeUndefined();
});

test('the line of a request holds its route, status, time in milliseconds and ids', () => {
  const { lines, logger } = recordingLogger();

  logger.request?.({ ...REQUEST, userId: 'a"da\n', traceId: 'f00' });

  expect(lines[0]).toMatch(/^{"level":"info","time":"[^"]+".*}\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: '2026-11-21T10:00:00.000Z',
    service: 'users',
    method: 'GET',
    route: '/api/v2/users/:id',
    status: 200,
    durationMs: 1.235,
    requestId: 'abc',
    userId: 'a"da\n',
    traceId: 'f00',
    message: 'request',
  });
});

test('the line of a request may be kept back, what is said else is handed on at once', () => {
  const { logger, flushes } = recordingLogger();

  logger.request?.(REQUEST);
  const kept = flushes();
  logger.info('listening');

  expect(kept).toBe(0);
  expect(flushes()).toBe(1);
});

test('for eyes, a request is a short line', () => {
  const { output, lines } = recordingLogger();
  const logger = createLogger('users', { output: openPrettyOutput(output, { colorize: false }) });

  logger.request?.({ ...REQUEST, userId: 'ada' });
  logger.request?.({ ...REQUEST, route: '', status: 404 });
  logger.error('failed', new Error('outer'));

  const time = String.raw`\d\d:\d\d:\d\d`;
  expect(lines[0]).toMatch(
    new RegExp(`^${time} INFO: GET /api/v2/users/:id 200 1.2 ms  ada  abc\n$`),
  );
  expect(lines[1]).toMatch(new RegExp(`^${time} INFO: GET \\(no route\\) 404 1.2 ms  abc\n$`));
  expect(lines[2]).toMatch(new RegExp(`^${time} ERROR: failed\n {4}error: Error: outer\n {8}at `));
});
