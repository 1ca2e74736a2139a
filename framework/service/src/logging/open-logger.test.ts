import { Writable } from 'node:stream';

import { expect, test } from 'vitest';

import { createLogger, type RequestEntry } from './logging.ts';
import { openPrettyOutput } from './open-logger.ts';

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

/** A logger for people, and its lines without the time. */
async function openRecordingLogger() {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk).replace(/^\d\d:\d\d:\d\d /, ''));
      done();
    },
  });
  const output = await openPrettyOutput({ destination, colorize: false });
  return { lines, logger: createLogger('users', { output }) };
}

test('the pretty format of a request is one short line', async () => {
  const { lines, logger } = await openRecordingLogger();

  logger.request?.({ ...REQUEST, userId: 'ada', traceId: 'f00' });
  logger.request?.({ ...REQUEST, route: '', status: 404 });
  logger.request?.({ ...REQUEST, status: 101, closeCode: 1001, via: 'mcp' });
  logger.request?.({ ...REQUEST, fields: { tenant: 'acme' } });

  expect(lines).toEqual([
    'INFO: GET /api/v2/users/:id 200 1.2 ms  ada  abc\n',
    'INFO: GET (no route) 404 1.2 ms  abc\n',
    'INFO: GET /api/v2/users/:id 101 1.2 ms  closed with 1001  mcp  abc\n',
    "INFO: GET /api/v2/users/:id 200 1.2 ms  { tenant: 'acme' }  abc\n",
  ]);
});

test('the pretty format of a message is one line with its fields and the id of its request', async () => {
  const { lines, logger } = await openRecordingLogger();
  const own = { requestId: 'abc', route: '/a', userId: 'ada', traceId: 'f00' };

  logger.info('started');
  logger.info('sold', { ...own, order: 7, text: 'a\nb' });
  logger.warn('late', own);
  logger.info('request', { status: 200 });
  logger.info('called', {
    name: 'users',
    pid: 1,
    method: 'GET',
    status: 502,
    at: { a: { b: [1] } },
  });

  expect(lines).toEqual([
    'INFO: started\n',
    "INFO: sold  { order: 7, text: 'a\\nb' }  abc\n",
    'WARN: late  abc\n',
    'INFO: request  { status: 200 }\n',
    "INFO: called  { name: 'users', pid: 1, method: 'GET', status: 502, at: { a: { b: [ 1 ] } } }\n",
  ]);
});

test('the pretty format of an error is indented', async () => {
  const { lines, logger } = await openRecordingLogger();

  logger.error('failed', new Error('outer'), { order: 7, requestId: 'abc' });

  expect(lines[0]).toMatch(
    /^ERROR: failed {2}\{ order: 7 \} {2}abc\n {4}error: Error: outer\n {8}at .*open-logger\.test\.ts/,
  );
});
