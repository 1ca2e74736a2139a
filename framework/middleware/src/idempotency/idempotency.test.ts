import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { quiet, recordLog, request } from '@fw/core/testing';
import {
  type Context,
  createApp,
  createRouter,
  errorHandler,
  HttpError,
  type Middleware,
} from 'fw';
import { describe, expect, test } from 'vitest';
import { timeout } from '../timeout.ts';
import {
  type ClaimStore,
  type Idempotency,
  type IdempotencyOptions,
  idempotency,
  memoryStore,
  type TransactionStore,
} from './idempotency.ts';

type Options = Partial<IdempotencyOptions<unknown>>;
type Handler = (ctx: Context, run: number) => unknown;

const created: Handler = (ctx, run) => {
  ctx.status = 201;
  ctx.set('Location', `/payments/${run}`);
  return { run };
};

/** An API whose routes call `handler`; `runs` counts the calls. */
function createApi(handler: Handler = created, options: Options = {}) {
  const { logger, lines } = recordLog();
  const calls = { runs: 0, lines };
  const signIn: Middleware = (ctx, next) => {
    const id = ctx.get('x-user');
    if (id !== undefined) ctx.state.user = { id: id === 'without id' ? (undefined as never) : id };
    return next();
  };
  const store = options.store ?? memoryStore();
  const once = idempotency({ ...options, store });
  const handle: Middleware = (ctx) => handler(ctx, ++calls.runs);
  const router = createRouter()
    .use(signIn, json())
    .post('/payments', once, handle)
    .put('/payments', once, handle)
    .post('/refunds', once, handle);
  const app = createApp({ logger });
  app.use(errorHandler()).route('/', router);
  const send = (
    key: string | undefined,
    { path = '/payments', method = 'POST', body = { amount: 5 } as unknown, headers = {} } = {},
  ) =>
    request(app, path, {
      method,
      json: body,
      headers: { ...(key !== undefined && { 'Idempotency-Key': key }), ...headers },
    });
  return { calls, send };
}

test('a repeated request gets the first response, and its handler runs once', async () => {
  const { calls, send } = createApi();

  const first = await send('k');
  const again = await send('k');

  expect(calls.runs).toBe(1);
  for (const response of [first, again]) {
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/payments/1');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  }
  expect(await again.text()).toBe(await first.text());
});

test.each<readonly [string, Handler, number, string]>([
  ['bytes', (ctx) => ctx.send(Buffer.from([0, 255])), 200, '\0\xff'],
  ['nothing', () => {}, 204, ''],
])('a response of %s is repeated', async (_, handler, status, body) => {
  const { calls, send } = createApi(handler);

  const responses = [await send('k'), await send('k')];

  for (const response of responses) {
    expect(response.status).toBe(status);
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toBe(body);
  }
  expect(calls.runs).toBe(1);
});

test('headers of one exchange, such as Set-Cookie, are not repeated', async () => {
  const kept = ['Content-Encoding', 'ETag', 'Link'];
  const names = [...kept, 'Set-Cookie', 'RateLimit', 'X-Request-Id', 'Cache-Control'];
  const { send } = createApi((ctx) => {
    for (const name of names) ctx.set(name, '"1"');
    return {};
  });

  await send('k');
  const again = await send('k');

  const sent = names.filter((name) => again.headers.has(name));
  expect(sent).toEqual(kept);
});

test('a request without a key is handled each time, or gets 400 if the key is required', async () => {
  const optional = createApi();
  const strict = createApi(created, { required: true });

  const statuses = [];
  for (const { send } of [optional, optional, strict])
    statuses.push((await send(undefined)).status);

  expect(statuses).toEqual([201, 201, 400]);
  expect([optional.calls.runs, strict.calls.runs]).toEqual([2, 0]);
});

test.each([
  ['is empty', ''],
  ['contains a space', 'a b'],
  ['is not ASCII', 'é'],
  ['has 256 characters', 'a'.repeat(256)],
])('a key that %s gets 400', async (_, key) => {
  const { calls, send } = createApi();

  const response = await send(key);

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    errors: [{ in: 'headers', pointer: '/idempotency-key' }],
  });
  expect(calls.runs).toBe(0);
});

test.each([
  ['body', { body: { amount: 6 } }],
  ['method', { method: 'PUT' }],
  ['path', { path: '/refunds' }],
  ['query', { path: '/payments?currency=eur' }],
])('a key that was used with another %s gets 422', async (_, changes) => {
  const { calls, send } = createApi();
  await send('k');

  const response = await send('k', changes);

  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    detail: 'Idempotency-Key was used with another request',
  });
  expect(calls.runs).toBe(1);
});

test('the option fingerprint selects what must be the same', async () => {
  const fingerprint = async ({ body }: Context) => (body as { amount: number }).amount;
  const { calls, send } = createApi(created, { fingerprint });
  await send('k', { body: { amount: 5, sentAt: 1 } });

  const again = await send('k', { body: { amount: 5, sentAt: 2 } });
  const other = await send('k', { body: { amount: 6, sentAt: 1 } });

  expect([again.status, other.status, calls.runs]).toEqual([201, 422, 1]);
});

describe('a key of another user', () => {
  const as = (user: string) => ({ headers: { 'X-User': user } });

  test.each([
    ['another user', as('ada'), as('bob')],
    ['an anonymous client', as('ada'), {}],
    ['a user whose id contains a space', as('a'), as('a k')],
    ['a user whose id looks like a key', {}, as('k')],
  ])('neither returns its response nor blocks %s', async (_, first, other) => {
    const { calls, send } = createApi();
    await send('k', first);

    const response = await send('k', other);

    expect(await response.json()).toEqual({ run: 2 });
    expect(calls.runs).toBe(2);
  });
});

test('concurrent requests wait for the first and get its response', async () => {
  const { calls, send } = createApi(async (ctx, run) => {
    await sleep(30);
    return created(ctx, run);
  });

  const responses = await Promise.all(Array.from({ length: 20 }, () => send('k')));

  const bodies = await Promise.all(responses.map((response) => response.text()));
  expect(new Set(bodies)).toEqual(new Set(['{"run":1}']));
  expect(calls.runs).toBe(1);
});

test('a concurrent request gets 409 with Retry-After after waitMs', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { send } = createApi(() => promise, { waitMs: 20 });
  const first = send('k');

  const other = await send('k');
  resolve();

  expect(other.status).toBe(409);
  expect(other.headers.get('retry-after')).toBe('1');
  expect(await other.json()).toMatchObject({ code: 'KEY_IN_USE' });
  expect((await first).status).toBe(204);
});

test.each<readonly [string, Handler]>([
  ['throws', (ctx) => ctx.throw(503)],
  ['rejects later', (ctx) => sleep(1).then(() => ctx.throw(402))],
  ['sends an error', (ctx) => Object.assign(ctx, { status: 409 }).json({})],
])('a handler that %s frees the key, also for another request', async (_, fail) => {
  const { calls, send } = createApi((ctx, run) => (run === 1 ? fail : created)(ctx, run));

  const [failed, waited] = await Promise.all([send('k'), send('k')]);
  const other = await send('k', { body: {} });

  expect(failed?.status).toBeGreaterThanOrEqual(400);
  expect(waited?.status).toBe(201);
  expect(other.status).toBe(422);
  expect(calls.runs).toBe(2);
});

test('a response is stored for retentionMs', async () => {
  let nowMs = 0;
  const { send } = createApi(created, { retentionMs: 1_000, clock: () => nowMs });
  const runAt = async (timeMs: number) => {
    nowMs = timeMs;
    return (await (await send('k')).json()) as { run: number };
  };

  const runs = [];
  for (const timeMs of [0, 999, 1_000, 1_999, 2_000]) runs.push((await runAt(timeMs)).run);

  expect(runs).toEqual([1, 1, 2, 2, 3]);
});

test.each<readonly [string, Handler]>([
  ['is larger than maxResponseBytes', (ctx) => ctx.send('é'.repeat(6))],
  ['is a stream', (ctx) => ctx.send(Readable.from(['text']))],
  ['was sent with the methods of Node', (ctx) => void ctx.raw.res.end('text')],
])('a response that %s is sent once; its repetition gets 409', async (_, handler) => {
  const { calls, send } = createApi(handler, { maxResponseBytes: 11 });

  const first = await send('k');
  const again = await send('k');

  expect([first.status, again.status, calls.runs]).toEqual([200, 409, 1]);
  expect(await again.json()).toMatchObject({ code: 'RESPONSE_NOT_STORED' });
  expect(calls.lines).toEqual([
    'warn: POST /payments sent a response that cannot be stored: repeated requests get 409; send a body of known size up to maxResponseBytes',
  ]);
});

test('work that ends after the time limit of its request is not done again', async () => {
  let runs = 0;
  const app = createApp({ logger: quiet });
  app.use(errorHandler(), timeout(10), idempotency({ store: memoryStore() }), async (ctx) => {
    runs++;
    await sleep(50);
    ctx.send('done');
  });
  const send = () => request(app, '/', { method: 'POST', headers: { 'Idempotency-Key': 'k' } });

  const late = await send();
  await sleep(100);
  const again = await send();

  expect([late.status, again.status, runs]).toEqual([503, 409, 1]);
});

test('a body that no parser has read gets 500: all bodies would have the same fingerprint', async () => {
  const app = createApp({ logger: quiet }).use(idempotency({ store: memoryStore() }), (ctx) =>
    ctx.send(null),
  );
  const headers = { 'Idempotency-Key': 'k' };

  const withBody = await request(app, '/', { method: 'POST', body: 'text', headers });
  const empty = await request(app, '/', { method: 'POST', headers });

  expect([withBody.status, empty.status]).toEqual([500, 204]);
});

test.each<readonly [string, Options, Record<string, string>]>([
  ['a scope that is not a text', { scope: () => undefined as never }, {}],
  ['a user without an id', {}, { 'X-User': 'without id' }],
  ['a fingerprint with a file', { fingerprint: () => ({ photo: new File(['text'], 'name') }) }, {}],
  ['a fingerprint with a Map', { fingerprint: () => [new Map([['amount', 5]])] }, {}],
])('%s gets 500: different requests would share a response', async (_, options, headers) => {
  const { calls, send } = createApi(created, options);

  expect((await send('k', { headers })).status).toBe(500);
  expect(calls.runs).toBe(0);
});

describe('an unavailable store', () => {
  const unavailable = () => Promise.reject(new HttpError(503));
  const available: ClaimStore = {
    claim: async () => undefined,
    finish: async () => true,
    release: async () => {},
  };

  test('that cannot claim the key gets 503, before the handler runs', async () => {
    const { calls, send } = createApi(created, { store: { ...available, claim: unavailable } });

    expect((await send('k')).status).toBe(503);
    expect(calls.runs).toBe(0);
  });

  test.each<readonly [string, Partial<ClaimStore>, number]>([
    ['store the response', { finish: unavailable }, 201],
    ['free the key', { release: unavailable }, 402],
  ])('that cannot %s after the work does not change the response', async (_, broken, status) => {
    const { calls, send } = createApi(
      (ctx, run) => (status === 201 ? created(ctx, run) : ctx.throw(status)),
      { store: { ...available, ...broken } },
    );

    expect((await send('k')).status).toBe(status);
    expect(calls.lines).toEqual(['error: POST /payments could not store its response']);
  });
});

describe('memoryStore', () => {
  const attempt = (key: string, nowMs = 0) => ({
    key,
    fingerprint: 'f',
    owner: key,
    nowMs,
    retentionMs: 1_000,
  });

  test('forgets the oldest responses beyond maxBytes, and no request in progress', async () => {
    const store = memoryStore({ maxBytes: 1024 ** 2 });
    await store.claim(attempt('running'));
    const response = 'x'.repeat(100_000);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await store.claim(attempt(key));
      await store.finish(attempt(key), response);
    }

    const known = [];
    for (const key of ['running', 'a', 'b', 'f']) {
      if (await store.claim(attempt(key))) known.push(key);
    }

    expect(known).toEqual(['running', 'b', 'f']);
  });

  test('uses no memory for expired responses', async () => {
    const store = memoryStore({ maxBytes: 1024 ** 2 });
    for (let at = 0; at < 100; at++) {
      await store.claim(attempt(`${at}`, at * 1_000));
      await store.finish(attempt(`${at}`, at * 1_000), 'x'.repeat(100_000));
    }

    expect(await store.claim(attempt('99', 99_999))).toMatchObject({ fingerprint: 'f' });
    expect(await store.claim(attempt('98', 99_999))).toBeUndefined();
  });
});

describe('a store with transactions', () => {
  function createStore() {
    const rows = new Map<string, { fingerprint: string; response: string }>();
    const store: TransactionStore<string> = {
      find: async ({ key }) => rows.get(key),
      save(transaction, { key, fingerprint }, response) {
        if (transaction !== 'transaction') throw new TypeError(transaction);
        rows.set(key, { fingerprint, response });
      },
    };
    return { rows, store };
  }
  const save = (ctx: Context, value?: string) =>
    (ctx.state.idempotency as Idempotency).save('transaction', value);

  test('replays what the handler has saved', async () => {
    const { store } = createStore();
    const { calls, send } = createApi(
      (ctx, run) => {
        ctx.json(created(ctx, run));
        save(ctx);
      },
      { store },
    );

    const first = await send('k');
    const again = await send('k');

    expect(calls).toEqual({ runs: 1, lines: [] });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers.get('location')).toBe('/payments/1');
    expect(await again.text()).toBe(await first.text());
  });

  test('sends the response of the last run of a repeated transaction', async () => {
    const { store } = createStore();
    const { send } = createApi(
      (ctx) => {
        for (const run of [1, 2]) {
          ctx.json({ run });
          save(ctx);
        }
      },
      { store },
    );

    expect(await (await send('k')).json()).toEqual({ run: 2 });
    expect(await (await send('k')).json()).toEqual({ run: 2 });
  });

  test('replays a saved value with the option replay', async () => {
    const { store } = createStore();
    const { send } = createApi((ctx) => void save(ctx, '7'), {
      store,
      replay: async (ctx, value) => {
        await sleep(1);
        ctx.json({ id: value });
      },
    });
    await send('k');

    expect(await (await send('k')).json()).toEqual({ id: '7' });
  });

  test('sends the response of a concurrent request whose effect the handler reports as an error', async () => {
    const { store, rows } = createStore();
    const { calls, send } = createApi(
      async (ctx, run) => {
        if (run === 1) await expect.poll(() => rows.size).toBe(1);
        if (rows.size > 0) throw new HttpError(409, 'already paid');
        ctx.json({ run });
        save(ctx);
      },
      { store },
    );

    const slow = send('k');
    await expect.poll(() => calls.runs).toBe(1);
    await send('k');

    expect(await (await slow).json()).toEqual({ run: 2 });
  });

  test.each([409, 500])('with lookUpFirst: false, is asked only after a %d', async (status) => {
    const { store, rows } = createStore();
    const order: string[] = [];
    const find: typeof store.find = (attempt) => {
      order.push('find');
      return store.find(attempt);
    };
    const { send } = createApi(
      (ctx, run) => {
        order.push('handle');
        if (rows.size > 0) throw new HttpError(status);
        ctx.json({ run });
        save(ctx);
      },
      { store: { ...store, find }, lookUpFirst: false },
    );

    const responses = [await send('k'), await send('k'), await send('k', { body: {} })];

    expect(responses.map((response) => response.status)).toEqual([200, 200, 422]);
    expect(await responses[1]?.json()).toEqual({ run: 1 });
    expect(order).toEqual(['handle', 'handle', 'find', 'handle', 'find']);
  });

  test('rolls back a response that cannot be stored', async () => {
    const { store, rows } = createStore();
    const { send } = createApi(
      (ctx) => {
        ctx.send('x'.repeat(11));
        save(ctx);
      },
      { store, maxResponseBytes: 10 },
    );

    expect((await send('k')).status).toBe(500);
    expect(rows.size).toBe(0);
  });

  test('has nothing to save before the response, and without a key', async () => {
    const { store, rows } = createStore();
    const { send } = createApi(
      (ctx, run) => {
        save(ctx);
        return created(ctx, run);
      },
      { store },
    );

    expect([(await send('k')).status, (await send(undefined)).status]).toEqual([500, 201]);
    expect(rows.size).toBe(0);
  });

  test('warns once of a handler that does not save', async () => {
    const { calls, send } = createApi(created, { store: createStore().store });

    for (const key of ['a', 'b']) await send(key);

    expect(calls.lines).toEqual([
      'warn: POST /payments stored no response: repeated requests are handled again; call ctx.state.idempotency.save(transaction)',
    ]);
  });
});
