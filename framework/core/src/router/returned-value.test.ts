import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { createApp, type Middleware } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { describe, expect, test } from 'vitest';

import { createRouter } from './router.ts';

/** Sends one request to a route with these functions; gives the response and the errors logged. */
async function responseOf(...handlers: readonly Middleware[]) {
  const { logger, errors } = recordLog();
  const router = createRouter().route('GET', '/a', ...handlers);
  const response = await request(createApp({ logger }).route('/', router), '/a');
  return { response, errors };
}

describe.each<readonly [string, (value: unknown) => Middleware]>([
  ['synchronous', (value) => () => value],
  [
    'asynchronous',
    (value) => async () => {
      await turn();
      return value;
    },
  ],
  // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
  ['thenable', (value) => () => ({ then: (resolve: (v: unknown) => void) => resolve(value) })],
])('a value that a %s route handler returns', (_, handlerOf) => {
  test.each<readonly [string, () => unknown, number, string | null, string]>([
    ['an object', () => ({ a: 'é' }), 200, 'application/json; charset=utf-8', '{"a":"é"}'],
    [
      'a list of numbers with a JSON form of its own',
      () => Object.assign(Uint16Array.of(1, 2), { toJSON: () => '1-2' }),
      200,
      'application/json; charset=utf-8',
      '"1-2"',
    ],
    ['null', () => null, 200, 'application/json; charset=utf-8', 'null'],
    ['a number', () => 0, 200, 'application/json; charset=utf-8', '0'],
    ['a string', () => 'é', 200, 'text/plain; charset=utf-8', 'é'],
    ['an empty string', () => '', 204, null, ''],
    ['octets', () => Buffer.from('é'), 200, 'application/octet-stream', 'é'],
    ['a stream', () => Readable.from(['a', 'b']), 200, 'application/octet-stream', 'ab'],
    ['a web stream', () => new Blob(['ab']).stream(), 200, 'application/octet-stream', 'ab'],
    ['a Blob', () => new Blob(['a,b'], { type: 'text/csv' }), 200, 'text/csv', 'a,b'],
    ['undefined', () => undefined, 204, null, ''],
  ])('is sent: %s', async (_, value, status, type, text) => {
    const { response, errors } = await responseOf(handlerOf(value()));

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toBe(text);
    expect(errors).toEqual([]);
  });

  test('that is an error causes a 500, and the log explains that errors must be thrown', async () => {
    const error = Object.assign(new Error('not found'), { status: 404, expose: true });

    const { response, errors } = await responseOf(handlerOf(error));

    expect(response.status).toBe(500);
    expect(errors).toMatchObject([
      { message: 'Cannot send a returned error: throw it instead', cause: error },
    ]);
  });

  test.each(
    Object.entries<unknown>({
      'JSON: the value has the type Map, which has no JSON form; use Object.fromEntries(map)':
        new Map([['a', 1]]),
      'a returned Uint16Array: use [...array], or Buffer.from(array.buffer, array.byteOffset, array.byteLength) for its bytes':
        new Uint16Array(2),
    }),
  )('causes a 500, and the log has the type and a remedy: %s', async (message, value) => {
    const { response, errors } = await responseOf(handlerOf(value));

    expect(response.status).toBe(500);
    expect(errors.map(String)).toEqual([`TypeError: Cannot send ${message}`]);
  });

  test('in addition to a response causes a 500 that names both', async () => {
    const { response, errors } = await responseOf((ctx, next) => {
      ctx.json({ a: 1 });
      return handlerOf({ b: 2 })(ctx, next);
    });

    expect(response.status).toBe(500);
    expect(errors.map(String)).toEqual([
      'Error: Cannot respond with the returned value: ctx.json() already responded',
    ]);
  });
});

describe('a returned value', () => {
  test('keeps the status and the headers that the handler set', async () => {
    const { response } = await responseOf((ctx) => {
      ctx.status = 201;
      ctx.set('Location', '/a/1');
      return { id: 1 };
    });

    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/a/1');
    expect(await response.json()).toEqual({ id: 1 });
  });

  test('is recorded before earlier middleware continues', async () => {
    const seen: boolean[] = [];
    const watch: Middleware = async (ctx, next) => {
      await next();
      seen.push(ctx.responded);
    };

    await responseOf(watch, async () => ({ a: 1 }));

    expect(seen).toEqual([true]);
  });

  test('of a middleware is ignored', async () => {
    const { response } = await responseOf(
      async (_ctx, next) => {
        await next();
        return { from: 'middleware' };
      },
      (ctx) => ctx.json({ from: 'handler' }),
    );

    expect(await response.json()).toEqual({ from: 'handler' });
  });

  test.each<readonly [string, Middleware]>([
    ['ctx, from ctx.set()', (ctx) => ctx.set('X-A', '1')],
    ['ctx, from an asynchronous handler', async (ctx) => ctx.set('X-A', '1')],
    ['what next() returns', (_ctx, next) => next()],
  ])('that is %s is not a response: 204', async (_, handler) => {
    const { response, errors } = await responseOf(handler);

    expect(response.status).toBe(204);
    expect(errors).toEqual([]);
  });

  test.each(
    Object.entries<Middleware>({
      'the raw response': ({ raw }) => raw.res.writeHead(200).end('raw'),
      anything: ({ raw }) => {
        raw.res.writeHead(200).end('raw');
        return 7;
      },
    }),
  )('after a raw response is ignored: %s', async (_, handler) => {
    const { response, errors } = await responseOf(handler);

    expect(await response.text()).toBe('raw');
    expect(errors).toEqual([]);
  });
});
