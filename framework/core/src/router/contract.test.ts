import { createApp, type Middleware } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { createRouter } from './router.ts';

const Order = z.object({ id: z.number(), lines: z.array(z.object({ sku: z.string() })) });
// biome-ignore lint/suspicious/noExplicitAny: values that TypeScript would reject
const row: any = { id: 1, passwordHash: 'x', lines: [{ sku: 'a', passwordHash: 'x' }] };

type Handler = (...args: Parameters<Middleware>) => never;

/** Sends a request to a route with the contract `Order`. */
async function responseOf(handler: Handler, before: Middleware[] = []) {
  const { logger, problems, errors } = recordLog();
  const contract = endpoint({ responses: { 200: Order } });
  const router = createRouter().get('/orders/:id', contract, handler);
  const app = createApp({ logger }).use(...before, router.routes());
  const send = () => request(app, '/orders/7');
  return { response: await send(), send, problems, errors };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each<[string, (value: unknown) => Handler]>([
  ['returns', (value) => () => value as never],
  ['resolves with', (value) => (async () => value) as never as Handler],
  ['sends', (value) => (ctx) => ctx.json(value) as never],
])('a handler that %s a value', (_, handle) => {
  test('sends the declared fields only', async () => {
    const { response } = await responseOf(handle(row));

    expect(await response.text()).toBe('{"id":1,"lines":[{"sku":"a"}]}');
  });

  test('gets 500 for a missing field; the log has method, route, status and pointer', async () => {
    const { response, errors } = await responseOf(handle({ id: 1, lines: [{}] }));

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('sku');
    expect(errors.join()).toContain(
      'Response 200 of GET /orders/:id breaks its contract: "/lines/0/sku" is missing',
    );
  });

  test('sends it without the missing field in production, and logs that once', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { response, send, problems } = await responseOf(handle({ ...row, lines: [{ hash: 1 }] }));

    await send();

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ id: 1, lines: [{}] });
    expect(problems).toEqual([expect.stringContaining('"/lines/0/sku" is missing')]);
  });
});

test.each([
  ['test', 500, /^\{"type":"about:blank",/],
  ['production', 202, /^\{\}$/],
])('JSON with an undeclared status has no field in %s', async (environment, status, text) => {
  vi.stubEnv('NODE_ENV', environment);
  const { response, problems, errors } = await responseOf((ctx) => {
    ctx.status = 202;
    return row as never;
  });

  expect(response.status).toBe(status);
  const body = await response.text();
  expect(body).toMatch(text);
  expect(body).not.toContain('passwordHash');
  expect([...problems, ...errors].join()).toContain(
    'Response 202 of GET /orders/:id breaks its contract: its JSON has no declared schema; declare the status in endpoint({ responses }), or throw an error',
  );
});

describe('a handler with a contract that sends and returns nothing', () => {
  test('gets 500, and the log has the route and a remedy', async () => {
    const { response, errors } = await responseOf((async () => {}) as never);

    expect(response.status).toBe(500);
    expect(errors.join()).toContain(
      'Response 204 of GET /orders/:id breaks its contract: its JSON is missing: the handler sent and returned nothing; return the declared response',
    );
  });

  test('gets 204 in production, which is logged once', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { response, send, problems } = await responseOf((() => {}) as never);

    await send();

    expect(response.status).toBe(204);
    expect(problems).toEqual([expect.stringContaining('breaks its contract')]);
  });

  test.each<readonly [number, Parameters<typeof endpoint>[0]['responses']]>([
    [204, { 200: Order, 204: undefined }],
    [204, { 200: Order, 204: { description: 'None' } }],
    [300, { 200: Order }],
    [304, { 200: Order }],
    [404, { 200: Order }],
  ])('gets %i if that is declared, or not a success', async (status, responses) => {
    const router = createRouter().route('GET', '/', endpoint({ responses: responses! }), (ctx) => {
      if (status !== 204) ctx.status = status;
    });

    expect((await request(createApp().use(router.routes()), '/')).status).toBe(status);
  });
});

test.each([
  ['a record', z.object({ users: z.record(z.string(), z.number()) })],
  ['any value', z.object({ users: z.unknown() })],
  ['an object with optional fields', z.object({ users: z.object({ a: z.number().optional() }) })],
])('a Map where the contract has %s is rejected with its pointer', async (_, schema) => {
  const { logger, errors } = recordLog();
  const app = createApp({ logger });
  const router = createRouter().get('/', endpoint({ responses: { 200: schema } }), () => {
    return { users: new Map([['ada', 1]]) } as never;
  });

  const response = await request(app.use(router.routes()), '/');

  expect(response.status).toBe(500);
  expect(errors.join()).toMatch(
    /"\/users" (?:has|is of) the type Map.*use Object\.fromEntries\(map\)/,
  );
});

test('middleware before the handler sends what it wants, also after a failure', async () => {
  const guard: Middleware = (ctx) => {
    ctx.status = 401;
    ctx.json({ error: 'unknown' });
  };
  const rescue: Middleware = async (ctx, next) => {
    try {
      await next();
    } catch {
      ctx.json({ error: 'failed' });
    }
  };
  const supply: Middleware = async (ctx, next) => {
    await next();
    ctx.json({ supplied: true });
  };
  const fail = () => {
    throw new Error('no');
  };

  const responses = await Promise.all([
    responseOf(() => row as never, [guard]),
    responseOf(fail, [rescue]),
    responseOf((async () => fail()) as never, [rescue]),
    responseOf(() => ({ id: 1 }) as never, [rescue]),
    responseOf(((_ctx, next) => next()) as Middleware as never, [supply]),
  ]);

  const bodies = await Promise.all(responses.map(({ response }) => response.text()));
  expect(bodies).toEqual([
    '{"error":"unknown"}',
    '{"error":"failed"}',
    '{"error":"failed"}',
    '{"error":"failed"}',
    '{"supplied":true}',
  ]);
});

test('text, bytes and streams are not subject to the contract', async () => {
  const { response } = await responseOf((ctx) => ctx.html('<p>') as never);

  expect(await response.text()).toBe('<p>');
});

test('a schema that cannot be checked throws when the router is served, and names the route', () => {
  const schema = z.object({ data: z.custom<string>() });
  const router = createRouter().get('/x', endpoint({ responses: { 200: schema } }), () => ({
    data: 'x',
  }));

  const reason =
    'the schema of response 200 cannot be checked: the type "custom" at "/data" has no JSON Schema form';
  expect(() => router.routes()).toThrow(
    new TypeError(`Cannot register GET /x: ${reason}`, { cause: new TypeError(reason) }),
  );
});
