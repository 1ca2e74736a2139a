import { describe, expect, test } from 'vitest';

import { createApp } from './application.ts';
import { onSent } from './extension.ts';
import { request } from './testing/index.ts';

/** A logger that keeps errors. */
function errorLog() {
  const errors: string[] = [];
  const error = (message: string, error?: unknown) => void errors.push(`${message} ${error ?? ''}`);
  return { logger: { info() {}, warn() {}, error }, errors };
}

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
    const { logger, errors } = errorLog();
    const app = createApp({ logger }).get('/', (ctx) => {
      const { [name]: method } = ctx;
      return (method as (text: string, value: string) => unknown)('a', 'b');
    });

    expect((await request(app, '/')).status).toBe(500);
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
    const { logger, errors } = errorLog();
    const app = createApp({ logger }).get('/', () => {
      throw thrown;
    });

    expect((await request(app, '/')).status).toBe(500);
    expect(errors).toEqual([
      expect.stringMatching(/^GET \/ failed with 500 .* TypeError: Thrown: /),
    ]);
    expect(errors[0]).toContain(
      `Thrown: "${shown}", which is not an Error; throw an Error, such as`,
    );
  },
);

test.each<readonly [unknown, string]>([
  [undefined, 'undefined'],
  [null, 'null'],
  [{}, '[object Object]'],
  [['a', undefined], 'undefined'],
])('ctx.set() of %j is a 500 that names the header', async (value, shown) => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => ctx.set('X-A', value as string));

  expect((await request(app, '/')).status).toBe(500);
  expect(errors).toEqual([
    expect.stringContaining(
      `Cannot set header "X-A" to "${shown}": expected a string, a number or a list of strings`,
    ),
  ]);
});

test.each([undefined, null, new URL('http://a/')])('ctx.redirect(%s) is a 500', async (url) => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => ctx.redirect(url as never));

  expect((await request(app, '/')).status).toBe(500);
  expect(errors).toEqual([
    expect.stringContaining(`TypeError: Cannot redirect to "${url}": expected a string`),
  ]);
});

test.each([
  ['301.5', 301.5],
  ['200', 200],
  ['304', 304],
])('ctx.redirect() with the status %s is a 500', async (shown, status) => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => ctx.redirect('/a', status));

  expect((await request(app, '/')).status).toBe(500);
  expect(errors).toEqual([
    expect.stringContaining(
      `RangeError: Cannot redirect with status "${shown}": expected 301, 302, 303, 307 or 308`,
    ),
  ]);
});

test.each<readonly [string, unknown]>([
  ['undefined', undefined],
  ['function', () => {}],
  ['symbol', Symbol('a')],
])('ctx.json() of a value of type %s is a 500', async (type, value) => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => ctx.json(value));

  expect((await request(app, '/')).status).toBe(500);
  expect(errors).toEqual([
    expect.stringContaining(`Cannot send ctx.json() of type ${type}: it has no JSON form`),
  ]);
});

test('a response after one with ctx.raw is logged as an error', async () => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => {
    ctx.raw.res.end('raw');
    ctx.json({});
  });

  expect(await (await request(app, '/')).text()).toBe('raw');
  expect(errors).toEqual([
    expect.stringContaining('Cannot respond with ctx.json(): the response was already sent'),
  ]);
});

test('a handler may return the response of Node, which is not sent', async () => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => ctx.raw.res.setHeader('X-A', 'b'));

  const response = await request(app, '/');

  expect(response.status).toBe(204);
  expect(response.headers.get('x-a')).toBe('b');
  expect(errors).toEqual([]);
});

test('a copy of ctx is rejected by functions for middleware', async () => {
  const { logger, errors } = errorLog();
  const app = createApp({ logger }).get('/', (ctx) => onSent({ ...ctx }, () => {}));

  expect((await request(app, '/')).status).toBe(500);
  expect(errors).toEqual([
    expect.stringContaining(
      'Cannot use this context: expected the one that a middleware was called with',
    ),
  ]);
});

describe('ctx.body of a request with a body', () => {
  const post = {
    method: 'POST',
    body: '{"name":"Ada"}',
    headers: { 'Content-Type': 'application/json' },
  };

  /** A logger that keeps warnings. */
  function warningLog() {
    const warnings: string[] = [];
    return {
      logger: { info() {}, warn: (text: string) => void warnings.push(text), error() {} },
      warnings,
    };
  }

  test('that no parser has set causes one warning per route', async () => {
    const { logger, warnings } = warningLog();
    const app = createApp({ logger }).post('/users', (ctx) => ctx.json({ body: ctx.body ?? null }));

    for (let count = 0; count < 3; count++) {
      expect(await (await request(app, '/users', post)).json()).toEqual({ body: null });
    }

    expect(warnings).toEqual([
      'POST /users read ctx.body, which no parser has set: add a parser before it, such as json() of @fw/body-parser',
    ]);
  });

  test('that middleware has set, or of a request without a body, causes no warning', async () => {
    const { logger, warnings } = warningLog();
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

    expect(warnings).toEqual([]);
  });
});
