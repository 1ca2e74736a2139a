import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { type Application, createApp } from './application.ts';
import type { Context, Middleware } from './context.ts';
import { createRequestId } from './request/request-id.ts';
import { recordOf } from './request-context.ts';
import { quiet, recordLog, request } from './testing/index.ts';
import { exchange, serve } from './testing/vitest.ts';

/** An application that runs `handler` as the handler of a route. */
function routed(handler: Middleware, logger = quiet): Application {
  return createApp({ logger }).use((ctx, next) => {
    recordOf(ctx).route = { method: ctx.method, path: '/' };
    return next();
  }, handler);
}

/** An application whose handler sets `status`. */
const settingStatus = (status: number) =>
  routed((ctx) => {
    ctx.status = status;
  });

test.each<readonly [string, string, (ctx: Context) => void, (ctx: Context) => void]>([
  ['ctx.json()', 'ctx.send()', (ctx) => ctx.json(1), (ctx) => ctx.send('b')],
  ['ctx.html()', 'ctx.json()', (ctx) => ctx.html('a'), (ctx) => ctx.json(2)],
  ['ctx.send()', 'ctx.redirect()', (ctx) => ctx.send(''), (ctx) => ctx.redirect('/b')],
  ['ctx.redirect()', 'ctx.html()', (ctx) => ctx.redirect('/a'), (ctx) => ctx.html('b')],
])(
  'a response by %s and then %s throws an error with both names',
  async (first, second, send, again) => {
    const { errors, logger } = recordLog();

    const response = await request(
      routed((ctx) => {
        send(ctx);
        again(ctx);
      }, logger),
      '/',
    );

    expect(response.status).toBe(500);
    expect(response.headers.get('location')).toBeNull();
    expect(String(errors[0])).toBe(
      `Error: Cannot respond with ${second}: ${first} already responded`,
    );
  },
);

// HEAD has the headers of GET (RFC 9110 §9.3.2).
describe('a response without a body', () => {
  test.each([204, 205, 304])('with status %i has no Content-Type', async (status) => {
    const app = routed((ctx) => {
      ctx.status = status;
      ctx.set('ETag', '"1"').set('Content-Type', 'text/css').set('Content-Length', 5);
      ctx.json({ a: 1 });
    });

    const response = await request(app, '/');

    expect(response.status).toBe(status);
    expect(await response.text()).toBe('');
    expect(response.headers.get('content-type')).toBeNull();
    expect(response.headers.get('content-length')).toBe(status === 205 ? '0' : null);
    expect(response.headers.get('etag')).toBe('"1"');
  });

  test('is sent for HEAD, with the headers of GET', async () => {
    const app = routed((ctx) => ctx.set('X-A', '1').json({ text: 'é' }));

    const [get, head] = await Promise.all([
      request(app, '/'),
      request(app, '/', { method: 'HEAD' }),
    ]);

    expect(await head.text()).toBe('');
    expect({ ...Object.fromEntries(head.headers), date: '' }).toEqual({
      ...Object.fromEntries(get.headers),
      date: '',
    });
    expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength));
  });
});

test.each<readonly [string, Application, number]>([
  ['no route matched', createApp().use((_ctx, next) => next()), 404],
  ['nothing is there to match', createApp(), 404],
  ['a route matched', routed(() => {}), 204],
  ['the handler set status 201', settingStatus(201), 201],
  ['the handler set status 403', settingStatus(403), 403],
])('without a response: %s', async (_, app, status) => {
  const response = await request(app, '/');

  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe(
    status >= 400 ? 'application/problem+json' : null,
  );
});

describe('a response header', () => {
  test.each([
    ...['a\r\nSet-Cookie: b=c', 'a\nb', 'a\rb', 'a\0b', 'a\u0100'].map((value) => ['X-A', value]),
    ...['', 'a b', 'a:', 'é', 'a\r\nb', 'Transfer-Encoding', 'trailer'].map((name) => [name, 'a']),
  ] as [string, string][])('%j: %j is rejected', async (name, value) => {
    const response = await request(
      routed((ctx) => {
        expect(() => ctx.set(name, value)).toThrow(TypeError);
        expect(() => ctx.set(name, ['fine', value])).toThrow(TypeError);
        expect(() => ctx.append(name, value)).toThrow(TypeError);
      }),
      '/',
    );

    expect(response.status).toBe(204);
    expect([...response.headers.keys()].sort()).toEqual(
      ['connection', 'date', 'keep-alive'].filter((name) => response.headers.has(name)),
    );
  });

  test('is replaced by set and repeated by append, in any case', async () => {
    const app = routed((ctx) => {
      ctx
        .set('X-A', 'old')
        .set('x-a', 1)
        .append('Set-Cookie', 'a=1')
        .append('set-cookie', 'b=2')
        .json({});
    });

    const { headers } = await request(app, '/');

    expect(headers.get('x-a')).toBe('1');
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  test('Content-Length is the length of the body, even if the program sets it', async () => {
    const response = await request(
      routed((ctx) => ctx.set('Content-Length', 1).json({ a: 1 })),
      '/',
    );

    expect(response.headers.get('content-length')).toBe('7');
    expect(await response.json()).toEqual({ a: 1 });
  });
});

describe('a body', () => {
  test.each<readonly [string, (ctx: Context) => void, string | null, string]>([
    ['JSON', (ctx) => ctx.json({ a: 'é' }), 'application/json; charset=utf-8', '{"a":"é"}'],
    ['HTML', (ctx) => ctx.html('<p>'), 'text/html; charset=utf-8', '<p>'],
    [
      'an assigned type',
      (ctx) => ctx.set('content-type', 'text/csv').send('a,b'),
      'text/csv',
      'a,b',
    ],
    ['nothing', (ctx) => ctx.send(''), null, ''],
  ])('of %s has its type', async (_, send, type, text) => {
    const response = await request(routed(send), '/');

    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toBe(text);
  });

  test('that is a stream of a missing file is a 500, even if it is written later', async () => {
    const { errors, logger } = recordLog();
    const app = createApp({ logger }).use(
      async (_ctx, next) => {
        await next();
        await sleep(30);
      },
      (ctx) => ctx.send(createReadStream('/no/such/file')),
    );

    const response = await request(app, '/');

    expect(response.status).toBe(500);
    expect(String(errors[0])).toContain('ENOENT');
  });

  test('that is a stream is destroyed if an error replaces it', async () => {
    const stream = Readable.from(['a']);
    const app = routed((ctx) => {
      ctx.send(stream);
      throw new Error('broken');
    });

    expect((await request(app, '/')).status).toBe(500);
    expect(stream.destroyed).toBe(true);
  });
});

describe('a thrown error', () => {
  test.each<readonly [string, unknown]>([
    ['an Error', new Error('secret')],
    ['an object', { message: 'secret', status: 404 }],
    ['an error of another program', Object.assign(new Error('secret'), { status: 404 })],
    ['an impossible status', Object.assign(new Error('secret'), { status: 99, expose: true })],
    ['a 5xx with expose', Object.assign(new Error('secret'), { status: 500, expose: true })],
    [
      'invalid headers',
      Object.assign(new Error('x'), { status: 404, expose: true, headers: { 'X-A': 'a\nb' } }),
    ],
    [
      'issues without a JSON form',
      Object.assign(new Error('x'), { status: 400, expose: true, errors: 1n }),
    ],
  ])('%s is a 500 without details, and is logged', async (_, thrown) => {
    const { errors, logger } = recordLog();

    const response = await request(
      routed(() => {
        throw thrown;
      }, logger),
      '/',
    );

    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: 'Internal Server Error',
      code: 'INTERNAL_ERROR',
      requestId: expect.any(String),
    });
    expect(errors).toHaveLength(1);
  });

  test('by ctx.throw is sent with its status and message', async () => {
    const response = await request(
      routed((ctx) => ctx.throw(418, 'short and stout')),
      '/',
    );

    expect(response.status).toBe(418);
    expect(await response.json()).toMatchObject({
      title: "I'm a Teapot",
      detail: 'short and stout',
      code: 'I_M_A_TEAPOT',
    });
  });
});

test.each([
  [200, 200],
  [599, 599],
  ...[199, 600, 101, 2.5, Number.NaN].map((status) => [status, 500]),
] as [number, number][])('a handler that sets the status %d gets %i', async (status, expected) => {
  expect((await request(settingStatus(status), '/')).status).toBe(expected);
});

test.each([
  ['abc_-1', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['a b', false],
  ['<script>', false],
])('a request id %j of the client is used: %s', async (id, counts) => {
  const app = routed((ctx) => ctx.json(ctx.requestId));

  const used = await (await request(app, '/', { headers: { 'X-Request-Id': id } })).json();

  if (counts) expect(used).toBe(id);
  else expect(used).toMatch(/^[\da-f]{32}$/);
});

test('generated request ids are unique, also after several batches of random bytes', () => {
  const ids = Array.from({ length: 2_000 }, createRequestId);

  expect(new Set(ids).size).toBe(2_000);
  for (const id of ids) expect(id).toMatch(/^[\da-f]{32}$/);
});

test('a request keeps its generated id', async () => {
  const app = routed((ctx) => ctx.json([ctx.requestId, ctx.requestId]));

  const [first, second] = (await (await request(app, '/')).json()) as string[];

  expect(second).toBe(first);
});

test('ctx.get() joins a header that Node returns as a list', async () => {
  const app = routed((ctx) => ctx.json({ value: ctx.get('Set-Cookie') }));
  const { port } = await serve(app);

  const response = await exchange(
    port,
    'GET / HTTP/1.1\r\nHost: a\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: close\r\n\r\n',
  );

  expect(response).toContain('{"value":"a=1, b=2"}');
});

test.each(['__proto__', 'constructor', 'toString'])(
  'ctx.get("%s") of a missing header is undefined',
  async (name) => {
    const app = routed((ctx) => ctx.json({ value: ctx.get(name) ?? 'none' }));

    expect(await (await request(app, '/')).json()).toEqual({ value: 'none' });
  },
);

test.each([
  [
    { trustproxy: 1 },
    'createApp() has no option "trustproxy"; did you mean "trustProxy"? Its options: logger, logFields, trustProxy, deadlineMs, outermost',
  ],
  [
    { logger: 'console' },
    'logger "console" of createApp(): expected a logger with info, warn and error',
  ],
  [{ logger: { info() {} } }, 'of createApp(): expected a logger with info, warn and error'],
  [{ deadlineMs: '5' }, 'deadlineMs "5" of createApp(): expected 0 to 2147483647 milliseconds'],
  [{ outermost: true }, 'outermost "true" of createApp(): expected a function'],
])('createApp(%j) throws a TypeError', (options, message) => {
  expect(() => createApp(options as object)).toThrow(TypeError);
  expect(() => createApp(options as object)).toThrow(message);
});

test.each(['/:id', '/a/:id/b', '/*', '/a/*'])('use at "%s" throws', (prefix) => {
  expect(() => createApp().use(prefix, () => {})).toThrow(
    new TypeError(
      `Cannot use middleware at "${prefix}": expected a prefix without parameters; a router's group() takes them`,
    ),
  );
});

describe('the outermost middleware', () => {
  /** An application that records the results which its outermost middleware gets. */
  function watched() {
    const seen: unknown[] = [];
    const outermost: Middleware = async (ctx, next) => {
      ctx.set('X-Seen', 'yes');
      await next().then(
        () => seen.push(ctx.status),
        (error: unknown) => {
          seen.push(error);
          throw error;
        },
      );
    };
    const app = createApp({ logger: quiet, outermost });
    app.use((ctx) => {
      seen.push('handler');
      ctx.json({});
    });
    return { app, seen };
  }

  test('runs before all other middleware', async () => {
    const { app, seen } = watched();

    const response = await request(app, '/');

    expect(response.headers.get('x-seen')).toBe('yes');
    expect(seen).toEqual(['handler', 200]);
  });

  test('runs for rejected request targets, whose responses have its headers', async () => {
    const { app, seen } = watched();

    const response = await request(app, '/a/../b');

    expect(response.status).toBe(400);
    expect(response.headers.get('x-seen')).toBe('yes');
    expect(await response.json()).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect(seen).toEqual([expect.objectContaining({ status: 400 })]);
  });

  test('runs for OPTIONS *', async () => {
    const { app, seen } = watched();

    const response = await request(app, '*', { method: 'OPTIONS' });

    expect(response.status).toBe(204);
    expect(response.headers.get('x-seen')).toBe('yes');
    expect(seen).toEqual([204]);
  });
});
