import { describe, expect, test } from 'vitest';

import { createApp } from './application.ts';
import type { Middleware } from './context.ts';
import { onSent } from './extension.ts';
import { recordLog, request } from './testing/index.ts';

/** The status of a request that `handler` handles, and the logged errors. */
async function run(handler: Middleware) {
  const { logger, errors } = recordLog();
  const { status } = await request(createApp({ logger }).get('/', handler), '/');
  return { status, errors: errors.map(String) };
}

const setA =
  (value: unknown): Middleware =>
  (ctx) =>
    ctx.set('X-A', value as string);
const to =
  (url: unknown, status?: number): Middleware =>
  (ctx) =>
    ctx.redirect(url as string, status);
const json =
  (value: unknown): Middleware =>
  (ctx) =>
    ctx.json(value);

describe('a method that was taken out of ctx', () => {
  test.each([
    'json',
    'html',
    'send',
    'redirect',
    'fail',
    'set',
    'append',
    'get',
    'stream',
  ] as const)('%s causes an error that explains it', async (name) => {
    const { status, errors } = await run((ctx) => {
      const { [name]: method } = ctx;
      return (method as (text: string, value: string) => unknown)('a', 'b');
    });

    expect(status).toBe(500);
    expect(errors).toEqual([
      expect.stringContaining(`ctx.${name} was called without ctx: write (ctx) => ctx.${name}(…)`),
    ]);
  });
});

test.each<readonly [string, unknown]>([
  ['text', 'text'],
  ['{ status: 404 }', { status: 404 }],
  ['undefined', undefined],
  ['null', null],
])(
  'the thrown value %s is a 500, and the log explains that errors must be thrown',
  async (shown, thrown) => {
    const { status, errors } = await run(() => {
      throw thrown;
    });

    expect(status).toBe(500);
    expect(errors).toEqual([
      expect.stringContaining(
        `TypeError: Thrown: "${shown}", which is not an Error; throw an Error, such as`,
      ),
    ]);
  },
);

const NO_VALUE = 'expected a string, a number or a list of strings';
const NO_STATUS = 'expected 301, 302, 303, 307 or 308';

test.each<readonly [string, Middleware]>([
  [`Cannot set header "X-A" to "undefined": ${NO_VALUE}`, setA(undefined)],
  [`Cannot set header "X-A" to "[object Object]": ${NO_VALUE}`, setA({})],
  [`Cannot set header "X-A" to "undefined": ${NO_VALUE}`, setA(['a', undefined])],
  ['Cannot set header "trailer": only the server sets it', (ctx) => ctx.set('trailer', 'a')],
  ['TypeError: Cannot redirect to "undefined": expected a string', to(undefined)],
  ['TypeError: Cannot redirect to "http://a/": expected a string', to(new URL('http://a/'))],
  [`RangeError: Cannot redirect with status "304": ${NO_STATUS}`, to('/a', 304)],
  [
    'RangeError: Cannot set status "700": expected an integer from 200 to 599',
    (ctx) => Reflect.set(ctx, 'status', 700),
  ],
  ['Cannot send ctx.json() of type undefined: it has no JSON form', json(undefined)],
  ['Cannot send ctx.json() of type function: it has no JSON form', json(() => {})],
  [
    'Cannot use this context: expected the one that a middleware was called with',
    (ctx) => onSent({ ...ctx }, () => {}),
  ],
])('a mistake is a 500, and the log explains it: %s', async (message, handler) => {
  const { status, errors } = await run(handler);

  expect(status).toBe(500);
  expect(errors).toEqual([expect.stringContaining(message)]);
});

test('a response after one with ctx.raw is logged as an error', async () => {
  const { logger, errors } = recordLog();
  const app = createApp({ logger }).get('/', (ctx) => {
    ctx.raw.res.end('raw');
    ctx.json({});
  });

  expect(await (await request(app, '/')).text()).toBe('raw');
  expect(errors.map(String)).toEqual([
    expect.stringContaining('Cannot respond with ctx.json(): the response was already sent'),
  ]);
});

test('a handler may return the response of Node, which is not sent', async () => {
  const { logger, errors } = recordLog();
  const app = createApp({ logger }).get('/', (ctx) => ctx.raw.res.setHeader('X-A', 'b'));

  const response = await request(app, '/');

  expect(response.status).toBe(204);
  expect(response.headers.get('x-a')).toBe('b');
  expect(errors).toEqual([]);
});

describe('ctx.body of a request with a body', () => {
  const post = {
    method: 'POST',
    body: '{"name":"Ada"}',
    headers: { 'Content-Type': 'application/json' },
  };

  test('that no parser has set causes one warning per route', async () => {
    const { logger, problems } = recordLog();
    const app = createApp({ logger }).post('/users', (ctx) => ctx.json({ body: ctx.body ?? null }));

    for (let count = 0; count < 3; count++) {
      expect(await (await request(app, '/users', post)).json()).toEqual({ body: null });
    }

    expect(problems).toEqual([
      'warn: POST /users read ctx.body, which no parser has set: add a parser before it, such as json() of @fw/body-parser',
    ]);
  });

  test('that middleware has set, or of a request without a body, causes no warning', async () => {
    const { logger, problems } = recordLog();
    const app = createApp({ logger }).get('/none', (ctx) => ctx.json({ body: ctx.body ?? null }));
    app.post(
      '/set',
      (ctx, next) => {
        ctx.body = 'first';
        return next();
      },
      (ctx) => {
        ctx.body = `${ctx.body} second`;
        ctx.json({ body: ctx.body });
      },
    );

    await request(app, '/none');
    expect(await (await request(app, '/set', post)).json()).toEqual({ body: 'first second' });

    expect(problems).toEqual([]);
  });
});
