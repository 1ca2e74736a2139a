import { EventEmitter, once } from 'node:events';
import { runInNewContext } from 'node:vm';

import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Middleware } from '../context.ts';
import { respondWithError } from '../extension.ts';
import { openConnection, recordLog, request } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';
import { HttpError } from './http-error.ts';
import { problemOf, statusOf } from './problem.ts';

/** An application with a handler, and its logged errors. */
function handling(handler: Middleware, deadlineMs = 0) {
  const { logger, ...logged } = recordLog();
  return { app: createApp({ logger, deadlineMs }).use(handler), ...logged };
}

/** The application whose handler throws `thrown`. */
const throwing = (thrown: unknown) =>
  handling(() => {
    throw thrown;
  });

test.each([
  [399, 500],
  [400, 400],
  [599, 599],
  [600, 500],
])('the status of an exposed error with status %i is %i', (status, expected) => {
  expect(statusOf({ status, expose: true })).toBe(expected);
});

test('a problem has type, title, status, detail and code, and no request id if there is none', () => {
  expect(problemOf(new HttpError(404, 'No such user'))).toStrictEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'No such user',
    code: 'NOT_FOUND',
  });
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const withStack = (stack: string | undefined, cause?: unknown) =>
  Object.assign(new Error('a', { cause }), { stack });
const circular = withStack('Error: circular');
circular.cause = circular;

test.each<readonly [string, unknown, readonly string[]]>([
  ['text', 'a', ['Thrown: a']],
  ['null', null, []],
  ['an object', { a: 1 }, ['Thrown: {"a":1}']],
  ['an object without a JSON form', cycle, ['Thrown: an object that cannot be printed']],
  ['a symbol', Symbol('a'), ['Thrown: Symbol(a)']],
  [
    'an error, without the indentation',
    withStack('Error: a\n    at main (/a.js:1:2)'),
    ['Error: a', 'at main (/a.js:1:2)'],
  ],
  ['an error without a stack', withStack(undefined), ['Error: a']],
  ['an error whose cause is null', withStack('Error: a', null), ['Error: a']],
  [
    'a circular error, ten times',
    circular,
    ['Error: circular', ...new Array(9).fill('Caused by: Error: circular')],
  ],
])('includeStack shows %s', async (_, thrown, stack) => {
  const { app } = handling((ctx) => respondWithError(ctx, thrown, { includeStack: true }));

  expect(await (await request(app, '/')).json()).toMatchObject({ status: 500, stack });
});

test.each<readonly [string, unknown]>([
  ['an error', new Error('broken')],
  ['text', 'broken'],
])('%s that is thrown after the head was sent aborts the response', async (_, thrown) => {
  const failure = Promise.withResolvers<unknown>();
  const { app, errors } = handling((ctx) => {
    const { res } = ctx.raw;
    res.on('close', () => failure.resolve(res.errored)).write('part');
    throw thrown;
  });
  const server = await serve(app);

  const received = await exchange(server.port, GET);

  expect(received).not.toContain('0\r\n\r\n');
  expect(errors).toEqual([expect.any(Error)]);
  expect(await failure.promise).toEqual(errors[0]);
});

describe('the log of a thrown error', () => {
  test.each<readonly [string, unknown]>([
    ['an error', new Error('broken')],
    ['an error of another realm', runInNewContext('new Error("broken")')],
    ['an AbortError, although the request goes on', new DOMException('stopped', 'AbortError')],
  ])('has %s', async (_, thrown) => {
    const { app, errors } = throwing(thrown);

    expect((await request(app, '/')).status).toBe(500);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBe(thrown);
  });

  test('has a TypeError with the value as cause if it is not an error', async () => {
    const thrown = { code: 7 };
    const { app, errors } = throwing(thrown);

    await request(app, '/');

    expect(errors).toEqual([expect.any(TypeError)]);
    expect(errors[0]).toHaveProperty('cause', thrown);
  });

  test.each([
    [499, 0],
    [500, 1],
    [501, 0],
    [502, 1],
  ])('of an error with status %i has %i entries', async (status, entries) => {
    const { app, errors } = throwing(new HttpError(status));

    expect((await request(app, '/')).status).toBe(status);
    expect(errors).toHaveLength(entries);
  });

  test('has an error of the program after the client disconnected', async () => {
    const error = new Error('broken');
    const started = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    const { app, errors } = handling(async (ctx) => {
      started.resolve();
      await once(ctx.raw.res, 'close');
      setImmediate(failed.resolve);
      throw error;
    });
    const server = await serve(app);
    const client = openConnection(server.port).send(GET);
    await started.promise;

    client.close();
    await failed.promise;

    expect(errors).toEqual([error]);
  });
});

test('headers of an error that are not an object are ignored', async () => {
  const error = Object.assign(new Error('No'), { status: 404, expose: true, headers: 'a' });

  const response = await request(throwing(error).app, '/');

  expect(response.status).toBe(404);
  expect(response.headers.has('0')).toBe(false);
});

describe('at the deadline', () => {
  /** The response to what `fail` throws. */
  async function responseTo(fail: (signal: AbortSignal) => unknown) {
    let thrown: unknown;
    const { app, errors, problems } = handling(async ({ signal }) => {
      try {
        await fail(signal);
      } catch (error) {
        thrown = error;
        throw error;
      }
    }, 1);
    return { response: await request(app, '/'), errors, problems, thrown };
  }

  const throwLater = (errorOf: (reason: unknown) => unknown) => async (signal: AbortSignal) => {
    if (!signal.aborted) await once(signal, 'abort');
    throw errorOf(signal.reason);
  };

  test.each<readonly [string, (signal: AbortSignal) => unknown]>([
    ['its reason', throwLater((reason) => reason)],
    ['an error of Node with it', (signal) => once(new EventEmitter(), 'never', { signal })],
  ])('the response is 503 if the handler throws %s', async (_, fail) => {
    const { response, errors, problems, thrown } = await responseTo(fail);

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(problems).toEqual(['error: GET / failed with 503']);
    expect(errors).toMatchObject([{ message: 'The deadline of the request passed' }]);
    expect(errors[0]).toHaveProperty('cause', thrown);
  });

  test.each<readonly [string, (reason: unknown) => unknown]>([
    ['an AbortError of other work', () => new DOMException('stopped', 'AbortError')],
    ['a TimeoutError of other work', () => new DOMException('late', 'TimeoutError')],
    ['an error that explains it', (cause) => new Error('No rows', { cause })],
    ...['LockTimeoutError', 'TimeoutErrorOfLock'].map(
      (name) =>
        [
          `a ${name} that explains it`,
          (cause: unknown) => Object.assign(new Error('No lock', { cause }), { name }),
        ] as const,
    ),
  ])('the response is 500 if the handler throws %s', async (_, errorOf) => {
    const { response, errors } = await responseTo(throwLater(errorOf));

    expect(response.status).toBe(500);
    expect(errors).toHaveLength(1);
  });
});
