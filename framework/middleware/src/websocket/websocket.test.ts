import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRouter, type Guard, type Middleware, onSent } from '@fw/core';
import { errorHandler, UnauthorizedError } from '@fw/errors';
import { compress } from '@fw/middleware/compress';
import { etag } from '@fw/middleware/etag';
import { timeout } from '@fw/middleware/timeout';
import { rateLimit } from '@fw/rate-limit';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';

import { type AnyOptions, connect, echo, open, start, statusOf } from '../testing/websockets.ts';
import { type WebSocketClient, websocket } from './websocket.ts';

describe('a WebSocket route', () => {
  test('is not reported as a request without a response while it is open', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = await start(echo);
    await connect(server).opened;

    vi.advanceTimersByTime(10_000);

    expect(server.problems).toEqual([]);
  });

  test('has the parameters of its path and the state of its guards, typed', async () => {
    const guard: Guard<{ readonly name: string }> = (ctx, next) => {
      Object.assign(ctx.state, { name: String(ctx.get('x-name')) });
      return next();
    };
    const router = createRouter().get(
      '/rooms/:id',
      guard,
      websocket({
        schema: z.object({ count: z.coerce.number() }),
        open(client) {
          expectTypeOf(client.ctx.params.id).toEqualTypeOf<string>();
          expectTypeOf(client.ctx.state.name).toEqualTypeOf<string>();
          client.send({ room: client.ctx.params.id, name: client.ctx.state.name });
        },
        message(client, message) {
          expectTypeOf(message).toEqualTypeOf<{ count: number }>();
          client.send(message);
        },
      }),
    );
    const server = await start(echo, (app) => app.route('/v1', router));
    const documented = Object.keys(router.getRoutes()[0]?.metadata.responses ?? {});
    expect(documented).toEqual(['101', '400', '403', '426', '503']);

    const { socket, next } = connect(server, {
      path: '/v1/rooms/a%20b',
      headers: { 'x-name': 'Ada' },
    });

    expect(await next()).toBe('{"room":"a b","name":"Ada"}');
    socket.send('{"count":"7"}');
    expect(await next()).toBe('{"count":7}');
  });

  test('sends text and bytes unchanged without a schema', async () => {
    const { socket } = await open({ message: (client, message) => client.send(message) });
    const received: unknown[] = [];
    socket.on('message', (data, isBinary) => received.push(isBinary ? data : String(data)));

    socket.send('ü');
    socket.send(new Uint8Array([0, 255]));

    await expect.poll(() => received).toEqual(['ü', Buffer.from([0, 255])]);
  });

  test('runs the middleware before it, and sends the headers that it sets', async () => {
    const sent: number[] = [];
    const server = await start(echo, (app) =>
      app.use(
        (ctx, next) => {
          onSent(ctx, (status) => sent.push(status));
          return next();
        },
        compress(),
        errorHandler(),
        timeout(1_000),
        rateLimit({ max: 1 }),
        etag(),
        async (ctx, next) => {
          ctx.append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2');
          await next();
          ctx.set('X-Request-Id', ctx.requestId);
        },
      ),
    );

    const first = connect(server, { headers: { 'x-request-id': 'abc' } });
    const [{ headers }] = await once(first.socket, 'upgrade');
    const second = await connect(server).rejected;

    expect(headers).toMatchObject({ 'x-request-id': 'abc', 'set-cookie': ['a=1', 'b=2'] });
    expect(headers).not.toHaveProperty('etag');
    expect(headers).not.toHaveProperty('content-type');
    expect(second.statusCode).toBe(429);
    await expect.poll(() => sent).toEqual([101, 429]);
  });

  test.each<readonly [string, Middleware[], number]>([
    ['a guard', [() => Promise.reject(new UnauthorizedError('a token is required'))], 401],
    ['middleware that takes too long', [timeout(10), () => new Promise(() => {})], 503],
    [
      'an error after the handler',
      [
        async (ctx, next) => {
          await next();
          ctx.throw(409);
        },
      ],
      409,
    ],
  ])('%s rejects the upgrade with a problem response', async (_, middleware, status) => {
    const open = vi.fn();
    const server = await start(websocket({ open }), (app) => app.use(...middleware));

    const response = await connect(server).rejected;

    const headers = { 'content-type': 'application/problem+json', connection: 'close' };
    expect(response).toMatchObject({ statusCode: status, headers });
    expect(JSON.parse(String((await response.toArray())[0]))).toMatchObject({ status });
    expect(open).not.toHaveBeenCalled();
  });

  test('other routes of the application respond to an upgrade as to any request', async () => {
    const server = await start(echo, (app) => app.get('/text', () => 'x'.repeat(200_000)));

    const response = await connect(server, { path: '/text' }).rejected;

    expect(response.statusCode).toBe(200);
    expect((await response.toArray()).join('')).toHaveLength(200_000);
  });

  test('handlers run in the asynchronous context of their request', async () => {
    const context = new AsyncLocalStorage<string>();
    const route = websocket({ message: (client) => client.send(context.getStore()) });
    const server = await start(route, (app) => app.use((ctx, next) => context.run(ctx.path, next)));

    const { socket, opened, next } = connect(server);
    await opened;
    socket.send('');

    expect(await next()).toBe('/rooms/7');
  });

  test('runs the handlers of a client one after the other', async () => {
    const calls: string[] = [];
    const log = (text: string) => async () => {
      calls.push(`${text} begins`);
      await sleep(5);
      calls.push(`${text} ends`);
    };
    const { socket } = await open({
      open: log('open'),
      message: (_, message) => log(`message ${message}`)(),
      close: log('close'),
    });

    socket.send('1');
    socket.send('2');
    socket.close();

    const steps = ['open', 'message 1', 'message 2', 'close'];
    await expect
      .poll(() => calls)
      .toEqual(steps.flatMap((step) => [`${step} begins`, `${step} ends`]));
  });
});

const BUG = new Error('a bug');
const fail = () => {
  throw BUG;
};
const query = {
  // biome-ignore lint/suspicious/noThenProperty: such as that of a query builder
  then: (_: unknown, reject: (error: Error) => void) => reject(BUG),
};

describe('a message that', () => {
  const schema = z.object({ text: z.string().max(3) });

  test.each<readonly [string, string | Buffer, number, string]>([
    ['is no JSON', '{', 1007, 'The message is not valid JSON'],
    ['is nested too deep', '['.repeat(30_000), 1007, 'The message must be nested at most 64 deep'],
    ['has a forbidden key', '{"__proto__":{}}', 1007, 'must not have the key "__proto__"'],
    ['does not fit the schema', '{"text":1}', 1008, '/text: Invalid input'],
    ['is binary', Buffer.from('{}'), 1003, 'Messages must be text'],
    ['is too long', `"${'x'.repeat(65_536)}"`, 1009, ''],
  ])('%s closes the connection', async (_, message, code, reason) => {
    const received = vi.fn();
    const closed = vi.fn();
    const close = (_client: unknown, end: number) => closed(end);
    const client = await open({ schema, message: received, close });

    client.socket.send(message);
    client.socket.send('{"text":"a"}');

    expect(await client.closed).toEqual([code, expect.stringContaining(reason)]);
    await expect.poll(() => closed.mock.calls).toEqual([[code]]);
    expect(received).not.toHaveBeenCalled();
  });

  test('a schema rejects with a long text has a shortened reason', async () => {
    const refused = z.string().refine(() => false, { message: `${'x'.repeat(110)}üüüüüüüüü` });
    const client = await open({ schema: refused });

    client.socket.send('"a"');

    expect(await client.closed).toEqual([1008, `${'x'.repeat(110)}üüüüüü`]);
  });

  test('a schema validates asynchronously is delivered in order', async () => {
    const slow = z.number().refine(async (value) => sleep(10 - value).then(() => true));
    const message = (client: WebSocketClient, value: number) => client.send(value);
    const { socket, next } = await open({ schema: slow, message });

    for (const value of [1, 5, 9]) socket.send(String(value));

    expect([await next(), await next(), await next()]).toEqual(['1', '5', '9']);
  });

  test.each<readonly [string, AnyOptions]>([
    ['open', { open: async () => fail() }],
    ['with a query that is no Promise', { message: () => query }],
    ['message', { message: () => fail() }],
  ])('makes the handler %s fail closes the connection with 1011', async (_, options) => {
    const server = await start(websocket(options));
    const { socket, closed } = connect(server);

    socket.on('open', () => socket.send('x'));

    expect(await closed).toEqual([1011, 'Internal error']);
    expect(server.problems).toEqual(['error: GET /rooms/7: a WebSocket handler failed']);
    expect(server.errors).toEqual([BUG]);
  });

  test('waits for its validation is not delivered after close()', async () => {
    const message = vi.fn();
    const validated = Promise.withResolvers<boolean>();
    const client = Promise.withResolvers<WebSocketClient>();
    const schema = z.string().refine(() => {
      started.resolve();
      return validated.promise;
    });
    const started = Promise.withResolvers<void>();
    const { socket, closed } = await open({ schema, message, open: client.resolve });
    socket.send('"a"');
    await started.promise;

    (await client.promise).close(4_000);
    validated.resolve(true);

    expect(await closed).toEqual([4_000, '']);
    expect(message).not.toHaveBeenCalled();
  });

  test('makes its handler fail after the client has disconnected does not prevent close', async () => {
    const close = vi.fn();
    const bug = Promise.withResolvers<void>();
    const client = Promise.withResolvers<WebSocketClient>();
    const { server, socket } = await open({
      close,
      message(sender) {
        client.resolve(sender);
        return bug.promise;
      },
    });
    socket.send('a');
    const { ctx } = await client.promise;

    ctx.raw.req.socket.destroy();
    await once(socket, 'close');
    bug.reject(new Error('a bug'));

    await expect.poll(() => close.mock.calls).toEqual([[expect.anything(), 1006]]);
    expect(server.errors).toHaveLength(1);
  });

  test('has no JSON form cannot be sent', async () => {
    const server = await start(websocket({ open: (client) => client.send(() => {}) }));

    expect(await connect(server).closed).toEqual([1011, 'Internal error']);
    expect(server.errors[0]).toEqual(
      new TypeError('Cannot send a message of type function: it has no JSON form'),
    );
  });
});

describe('a limit', () => {
  test('of clients rejects the next one with 503 until one disconnects', async () => {
    const { server, ...first } = await open({ maxClients: 1 });

    const response = await connect(server).rejected;

    expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } });
    first.socket.close();
    await expect.poll(() => statusOf(connect(server))).toBe(101);
  });

  test.each<readonly [string, (socket: WebSocket) => void]>([
    ['messages', (socket) => socket.send('x')],
    ['pings', (socket) => socket.ping()],
    ['pongs', (socket) => socket.pong()],
  ])('of the rate applies to %s', async (_, send) => {
    const message = vi.fn();
    const client = await open({ message, maxMessagesPerSecond: 3 });

    for (let count = 0; count < 50; count++) send(client.socket);

    expect(await client.closed).toEqual([1008, 'Too many messages per second']);
    expect(message.mock.calls.length).toBeLessThanOrEqual(3);
  });

  test('of the rate replies to as many pings at once', async () => {
    const { socket, next } = await open({ message: (client, text) => client.send(text) });
    const replies: string[] = [];
    socket.on('pong', (data) => replies.push(String(data)));
    const pings = Array.from({ length: 99 }, (_, at) => `${at}`);

    for (const data of pings) socket.ping(data);
    socket.send('last');

    expect(await next()).toBe('last');
    expect(replies).toEqual(pings);
  });

  test('of the rate allows as many messages in the next second', async () => {
    const message = (client: WebSocketClient, text: unknown) => client.send(text);
    const { socket, next } = await open({ maxMessagesPerSecond: 3, message });

    for (const _ of [1, 2]) {
      for (const message of ['a', 'b', 'c']) socket.send(message);
      expect([await next(), await next(), await next()]).toEqual(['a', 'b', 'c']);
      await sleep(1_050);
    }
  });

  test('of unsent bytes disconnects a client that reads too slowly', async () => {
    let sender: WebSocketClient | undefined;
    const ended = Promise.withResolvers<number>();
    const { socket } = await open({
      maxUnsentBytes: 100_000,
      open: (client) => {
        sender = client;
      },
      close: (_, code) => ended.resolve(code),
    });
    socket.pause();

    let messages = 0;
    while (sender?.send('x'.repeat(50_000))) {
      messages++;
      await sleep(0);
    }

    expect(messages).toBeGreaterThan(1);
    expect(messages).toBeLessThan(1_000);
    expect(sender?.send('x')).toBe(false);
    expect(await ended.promise).toBe(1013);
  });

  test('of unsent bytes disconnects a client that sends pings and does not read', async () => {
    const ended = Promise.withResolvers<number>();
    const { socket } = await open({
      maxUnsentBytes: 100_000,
      maxMessagesPerSecond: 1_000_000,
      close: (_, code) => ended.resolve(code),
    });
    socket.pause();

    let isOver = false;
    ended.promise.then(() => {
      isOver = true;
    });
    for (let pings = 0; !isOver && pings < 1_000_000; pings++) {
      const sent = new Promise((resolve) => socket.ping('x'.repeat(125), undefined, resolve));
      if (pings % 100 === 0) await sent;
    }

    expect(await ended.promise).toBe(1013);
  });

  test('of time disconnects a client that does not reply to a ping', async () => {
    const ended = Promise.withResolvers<number>();
    const route = websocket({ pingMs: 50, close: (_, code) => ended.resolve(code) });
    const server = await start(route);
    const alive = connect(server);
    const { closed, opened } = connect(server, { autoPong: false });
    await Promise.all([opened, alive.opened]);

    expect(await closed).toEqual([1006, '']);
    expect(await ended.promise).toBe(1006);
    await sleep(120);
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
  });

  test('of age closes the connection with 1001', async () => {
    const closed = vi.fn();
    const client = await open({ maxAgeMs: 20, close: (_, code) => closed(code) });

    expect(await client.closed).toEqual([1001, 'The connection has reached its largest age']);
    await expect.poll(() => closed.mock.calls).toEqual([[1001]]);
  });

  test('of age closes the connection between two pings', async () => {
    const pings = vi.fn();
    const { socket, closed } = connect(await start(websocket({ pingMs: 100, maxAgeMs: 190 })));
    socket.on('ping', pings);

    expect(await closed).toEqual([1001, 'The connection has reached its largest age']);
    expect(pings).toHaveBeenCalledOnce();
  });

  test('a handler that waits delays the messages of its client, not of others', async () => {
    const release = Promise.withResolvers<void>();
    const calls: string[] = [];
    const route = websocket({
      pingMs: 30,
      maxMessagesPerSecond: 1_000_000,
      async message(_, message) {
        calls.push(String(message).slice(0, 4));
        if (message === 'wait') await release.promise;
      },
    });
    const server = await start(route);
    const [waiting, other] = [connect(server), connect(server)];
    await Promise.all([waiting.opened, other.opened]);

    waiting.socket.send('wait');
    await expect.poll(() => calls).toEqual(['wait']);
    for (let count = 0; count < 500; count++) waiting.socket.send('long'.repeat(15_000));
    other.socket.send('next');
    await expect.poll(() => calls).toEqual(['wait', 'next']);

    await sleep(100);
    expect(waiting.socket.bufferedAmount).toBeGreaterThan(0); // the client has to wait
    release.resolve();
    await expect.poll(() => calls.length).toBe(502);
  });
});

describe('a server that closes', () => {
  test('sends 1001 to its clients one after the other, and processes messages until then', async () => {
    const received: unknown[] = [];
    const route = websocket({ message: (_, message) => received.push(message) });
    const server = await start(route);
    const [first, last] = [connect(server), connect(server)];
    await Promise.all([first.opened, last.opened]);

    const closing = server.close({ lingerMs: 300 });
    expect(await first.closed).toEqual([1001, 'The server is about to close']);
    last.socket.send('late');
    await closing;

    expect(await last.closed).toEqual([1001, 'The server is about to close']);
    expect(received).toEqual(['late']);
  });

  test('sets no timer with a negative time, of which Node warns', async () => {
    const server = await start(echo);
    await Promise.all([connect(server).opened, connect(server).opened]);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());

    await server.close();

    expect(timers.mock.calls.filter(([, ms]) => Number(ms) < 0)).toEqual([]);
  });

  test('rejects an upgrade whose middleware was still running', async () => {
    const go = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const server = await start(echo, (app) =>
      app.use(async (_, next) => {
        held.resolve();
        await go.promise;
        await next();
      }),
    );
    const { rejected } = connect(server);
    await held.promise;

    const closing = server.close();
    await sleep(20);
    go.resolve();

    const response = await rejected;
    expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
    await closing;
  });
});
