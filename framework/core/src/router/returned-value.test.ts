import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { createApp, type Middleware } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { validate } from '@fw/validation';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

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
    ['an array', () => [1, 2], 200, 'application/json; charset=utf-8', '[1,2]'],
    [
      'a list of numbers with a JSON form of its own',
      () => Object.assign(Uint16Array.of(1, 2), { toJSON: () => '1-2' }),
      200,
      'application/json; charset=utf-8',
      '"1-2"',
    ],
    ['null', () => null, 200, 'application/json; charset=utf-8', 'null'],
    ['a number', () => 0, 200, 'application/json; charset=utf-8', '0'],
    ['false', () => false, 200, 'application/json; charset=utf-8', 'false'],
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

  test.each<readonly [string, unknown]>([
    [
      'JSON: the value has the type ArrayBuffer, which has no JSON form; use Buffer.from(buffer)',
      new ArrayBuffer(2),
    ],
    [
      'JSON: the value has the type DataView, which has no JSON form; use Buffer.from(view.buffer, view.byteOffset, view.byteLength)',
      new DataView(new ArrayBuffer(2)),
    ],
    [
      'JSON: the value has the type Map, which has no JSON form; use Object.fromEntries(map)',
      new Map([['a', 1]]),
    ],
    [
      'JSON: the value has the type Map, which has no JSON form; use Object.fromEntries(map)',
      new (class R extends Map {})(),
    ],
    ['JSON: the value has the type Set, which has no JSON form; use [...set]', new Set([1])],
    [
      'JSON: the value has the type Map Iterator, which has no JSON form; use [...iterator]',
      new Map().values(),
    ],
    [
      'JSON: the value has the type Response, which has no JSON form; use await value.text()',
      new Response('a'),
    ],
    [
      'JSON: the value has the type Headers, which has no JSON form; use Object.fromEntries(value)',
      new Headers(),
    ],
    [
      'JSON: the value has the type FormData, which has no JSON form; use Object.fromEntries(value)',
      new FormData(),
    ],
    [
      'a returned Uint16Array: use [...array], or Buffer.from(array.buffer, array.byteOffset, array.byteLength) for its bytes',
      new Uint16Array(2),
    ],
  ])('causes a 500, and the log has the type and a remedy: %s', async (message, value) => {
    const { response, errors } = await responseOf(handlerOf(value));

    expect(response.status).toBe(500);
    expect(errors.map(String)).toEqual([`TypeError: Cannot send ${message}`]);
  });

  const view = new DataView(new TextEncoder().encode('abc').buffer, 1, 1);

  test.each<readonly [string, unknown, string]>([
    ['Object.fromEntries(map)', Object.fromEntries(new Map([['a', 1]])), '{"a":1}'],
    ['[...set]', [...new Set([1])], '[1]'],
    ['[...iterator]', [...new Map([['a', 1]]).values()], '[1]'],
    ['Buffer.from(buffer)', Buffer.from(new ArrayBuffer(2)), '\0\0'],
    [
      'Buffer.from(view.buffer, view.byteOffset, view.byteLength)',
      Buffer.from(view.buffer, view.byteOffset, view.byteLength),
      'b',
    ],
    ['Object.fromEntries(value)', Object.fromEntries(new Headers({ a: '1' })), '{"a":"1"}'],
    ['String(value)', { n: String(1n) }, '{"n":"1"}'],
  ])('can be sent after the remedy %s', async (_, value, text) => {
    expect(await (await responseOf(handlerOf(value))).response.text()).toBe(text);
  });

  test.each<readonly [string, () => unknown]>([
    ['"/users" has the type Map, ', () => ({ users: new Map([['a', 1]]) })],
    ['"/a/0/b~1c" has the type Set, ', () => ({ a: [{ 'b/c': new Set() }] })],
    ['"/user" has the type Promise, ', () => ({ user: Promise.resolve() })],
    ['"/a/id" is a BigInt; use String(value)', () => ({ a: { id: 1n } })],
    [
      '"/parent/child" contains itself; send only some of its fields',
      () => {
        const child: Record<string, unknown> = {};
        child.parent = { child };
        return child;
      },
    ],
  ])('causes a 500, and the log has the JSON pointer: %s', async (problem, value) => {
    const { response, errors } = await responseOf(handlerOf(value()));

    expect(response.status).toBe(500);
    expect(errors.map(String)).toEqual([
      expect.stringContaining(`TypeError: Cannot send JSON: ${problem}`),
    ]);
  });

  test('may contain empty objects, text like {} and objects with toJSON', async () => {
    const map = Object.assign(new Map(), { toJSON: () => ({}) });
    const { response } = await responseOf(handlerOf({ a: {}, b: '{}', c: [map, null] }));

    expect(await response.json()).toEqual({ a: {}, b: '{}', c: [{}, null] });
  });

  test.each<readonly [string, unknown, string]>([
    [
      'an instance of a class',
      new (class User {
        id = 1;
      })(),
      '{"id":1}',
    ],
    ['an object without a prototype', Object.assign(Object.create(null), { id: 1 }), '{"id":1}'],
    ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a URL', new URL('http://a/'), '"http://a/"'],
    ['a Map with toJSON', Object.assign(new Map(), { toJSON: () => [1] }), '[1]'],
  ])('that is %s is sent as JSON', async (_, value, text) => {
    const { response } = await responseOf(handlerOf(value));

    expect(await response.text()).toBe(text);
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

  test('of a handler after validators and middleware is sent', async () => {
    const router = createRouter()
      .use((_ctx, next) => next())
      .get('/users/:id', validate({ params: z.object({ id: z.coerce.number() }) }), (ctx) => ({
        id: ctx.params.id,
      }));

    const response = await request(createApp().route('/api', router), '/api/users/7');

    expect(await response.json()).toEqual({ id: 7 });
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

  test.each<readonly [string, Middleware]>([
    ['the raw response', ({ raw }) => raw.res.writeHead(200).end('raw')],
    [
      'anything',
      ({ raw }) => {
        raw.res.writeHead(200).end('raw');
        return 7;
      },
    ],
  ])('after a raw response is ignored: %s', async (_, handler) => {
    const { response, errors } = await responseOf(handler);

    expect(await response.text()).toBe('raw');
    expect(errors).toEqual([]);
  });
});
