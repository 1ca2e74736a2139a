import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { type Application, createApp } from '../application.ts';
import type { Context } from '../context.ts';
import { type DispatchOptions, dispatch, onSent, viaOf } from '../extension.ts';
import { createRouter } from '../router/router.ts';
import { openConnection, request } from '../testing/index.ts';
import { GET, serve } from '../testing/vitest.ts';

const ITEM = { method: 'GET', path: '/items/:id' };

function toItem(options: Partial<DispatchOptions> = {}): DispatchOptions {
  return { route: ITEM, url: '/items/7', headers: {}, via: 'test', limitBytes: 10_000, ...options };
}

/** An application whose `POST /` dispatches a request, and sends what it got or why it failed. */
function appWith(options: DispatchOptions): Application {
  const app = createApp({ trustProxy: 1 });
  app.post('/', async (ctx) => {
    try {
      const { status, headers, body } = await dispatch(ctx, options);
      return { status, headers, text: body.toString() };
    } catch (error) {
      return { error: String(error) };
    }
  });
  return app;
}

async function post(app: Application, headers: Record<string, string> = {}) {
  const response = await request(app, '/', { method: 'POST', headers });
  return (await response.json()) as { status?: number; text?: string; error?: string };
}

test('dispatch runs all middleware, and returns status, headers and body', async () => {
  const seen: unknown[] = [];
  const app = createApp();
  app.use((ctx, next) => {
    seen.push([ctx.method, ctx.url, viaOf(ctx)]);
    onSent(ctx, (status) => seen.push(status));
    return next();
  });
  app.post('/', async (ctx) => {
    const response = await dispatch(ctx, toItem({ url: '/items/7?q=%C3%A9' }));
    return { ...response, body: response.body.toString() };
  });
  app.get('/items/:id', (ctx) => {
    ctx.set('ETag', '"1"').set('X-Twice', ['a', 'b']);
    return { id: ctx.params.id, q: ctx.query.q };
  });

  const response = await request(app, '/', { method: 'POST' });

  expect(await response.json()).toMatchObject({
    status: 200,
    headers: { etag: '"1"', 'x-twice': ['a', 'b'] },
    body: '{"id":"7","q":"é"}',
  });
  expect(seen).toEqual([['POST', '/', undefined], ['GET', '/items/7?q=%C3%A9', 'test'], 200, 200]);
});

test('dispatch sends the body with its headers', async () => {
  const route = { method: 'PUT', path: '/items/:id' };
  const headers = { 'content-type': 'text/plain', 'content-length': '5' };
  const app = appWith(toItem({ route, headers, body: 'hello' }));
  app.put('/items/:id', async (ctx) => {
    const chunks = await ctx.raw.req.toArray();
    return `${ctx.get('content-type')} ${Buffer.concat(chunks)}`;
  });

  expect(await post(app)).toMatchObject({ status: 200, text: 'text/plain hello' });
});

const INCOMPLETE = { error: 'Error: The request ended without a complete response' };
const ENDLESS = { error: 'Error: The response is an event stream, which has no end' };
const TOO_LARGE = { error: 'Error: The response has more than 10000 bytes' };

test.each<readonly [kind: string, send: (ctx: Context) => unknown, expected: object]>([
  ['an empty body', (ctx) => ctx.send(''), { status: 204, text: '' }],
  [
    'a response that middleware of Express writes',
    ({ raw: { res } }) => {
      res.writeHead(200, { 'X-Own': '1' });
      res.write('ab');
      res.end('cd');
    },
    { status: 200, text: 'abcd', headers: { 'x-own': '1' } },
  ],
  [
    'a response after an interim response',
    (ctx) => {
      ctx.raw.res.writeEarlyHints({ link: '</a.css>; rel=preload' });
      return 'body';
    },
    { status: 200, text: 'body' },
  ],
  ['an error', (ctx) => ctx.throw(409, 'Taken'), { status: 409, text: /"detail":"Taken"/ }],
  [
    'an event stream',
    (ctx) => {
      ctx.set('Content-Type', 'text/event-stream');
      ctx.send(
        new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('data: 1\n\n')) }),
      );
    },
    ENDLESS,
  ],
  [
    'the head of an event stream',
    ({ raw: { res } }) =>
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders(),
    ENDLESS,
  ],
  ['a chunk that is an object', ({ raw: { res } }) => void res.end({}), { status: 500 }],
  ['bytes', ({ raw: { res } }) => void res.end(new Uint8Array([97, 98])), { text: 'ab' }],
  [
    'what a callback of write() sends',
    ({ raw: { res } }) => {
      res.write('ab', () => res.write('cd'));
      setImmediate(() => res.end());
    },
    { text: 'abcd' },
  ],
  [
    'nothing that is written after the end',
    ({ raw: { res } }) => {
      res.end('ab').end('cd');
      res.write('ef');
    },
    { text: 'ab' },
  ],
  [
    'a head that is flushed',
    ({ raw: { res } }) => {
      res.flushHeaders();
      res.end(`sent: ${res.headersSent}`);
    },
    { text: 'sent: true' },
  ],
  ['a chunk in Latin-1', ({ raw: { res } }) => void res.end('\xe9', 'latin1'), { text: '\ufffd' }],
  [
    'a response after it was destroyed',
    ({ raw: { res } }) => void res.destroy().end('x'.repeat(20_000)),
    INCOMPLETE,
  ],
  ['a response as large as the limit', () => 'x'.repeat(10_000), { text: 'x'.repeat(10_000) }],
  [
    'an endless response',
    (ctx) =>
      ctx.send(new ReadableStream({ pull: (stream) => stream.enqueue(Buffer.alloc(1_000, 'x')) })),
    TOO_LARGE,
  ],
  ['a destroyed response', ({ raw: { res } }) => void res.destroy(), INCOMPLETE],
  ['a destroyed request', ({ raw: { req } }) => void req.destroy(), INCOMPLETE],
  [
    'a request that dispatches another one',
    (ctx) => dispatch(ctx, toItem()).catch(String),
    { text: 'Error: Cannot dispatch within a dispatched request' },
  ],
])('dispatch collects %s', async (_kind, send, expected) => {
  const app = appWith(toItem());
  vi.spyOn(app.logger, 'error').mockImplementation(() => {});
  vi.spyOn(app.logger, 'warn').mockImplementation(() => {});
  app.get('/items/:id', send);

  const result = await post(app);

  for (const [name, value] of Object.entries(expected)) {
    const actual = result[name as keyof typeof result];
    if (value instanceof RegExp) expect(actual).toMatch(value);
    else expect(actual).toEqual(value);
  }
});

test.each(['/items/figures', '/items/FIGURES/', '/items/%66igures', '/other'])(
  'dispatch gets 404 for %s, which another route serves',
  async (url) => {
    const app = appWith(toItem({ url }));
    const router = createRouter();
    router.get('/items/:id', () => 'item').get('/items/figures', () => 'figures');
    app.route('/', router);
    app.get('/other', () => 'other');

    expect(await post(app)).toMatchObject({ status: 404 });
  },
);

test('dispatch gets 404 for a request with HEAD, which the route for GET would serve', async () => {
  const app = appWith(toItem({ route: { ...ITEM, method: 'HEAD' } }));
  app.get('/items/:id', () => 'item');

  expect(await post(app)).toMatchObject({ status: 404 });
});

test('a dispatched request is a complete request of HTTP/1.1 with the given headers', async () => {
  const app = appWith(toItem({ headers: { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] } }));
  app.get('/items/:id', ({ raw: { req } }) => [req.httpVersion, req.complete, req.rawHeaders]);

  const { text = '' } = await post(app, { Host: 'a' });

  const headers = ['x-one', '1', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'host', 'a'];
  expect(JSON.parse(text)).toEqual(['1.1', true, headers]);
});

test.each<readonly [string, string, (res: ServerResponse, done: () => void) => unknown]>([
  ['end(callback)', '', (res, done) => res.end(done)],
  ['end(text, callback)', 'ab', (res, done) => res.end('ab', done)],
  ['end(text, encoding, callback)', 'ab', (res, done) => res.end('ab', 'latin1', done)],
])('%s of a dispatched response calls back', async (_, expected, end) => {
  const done = vi.fn();
  const app = appWith(toItem());
  app.get('/items/:id', (ctx) => void end(ctx.raw.res, done));

  const { text } = await post(app);

  expect(text).toBe(expected);
  expect(done).toHaveBeenCalledOnce();
});

test('the connection of a dispatched request has what middleware for Express uses', async () => {
  const app = appWith(toItem());
  app.get('/items/:id', ({ raw: { req, res } }) => {
    const { socket } = req;
    socket.setTimeout(1).setNoDelay(true).setKeepAlive(true).cork();
    socket.uncork();
    return [socket === res.socket, socket.writable];
  });

  expect(await post(app)).toMatchObject({ text: '[true,true]' });
});

test.each<readonly [string, (ctx: Context) => unknown]>([
  ['its response is complete', (ctx) => ctx.send('')],
  ['it is destroyed twice', (ctx) => void ctx.raw.req.socket.destroy().destroy()],
])('the connection of a dispatched request closes once when %s', async (_, end) => {
  const closed: string[] = [];
  const app = appWith(toItem());
  const { promise, resolve } = Promise.withResolvers<Context>();
  app.get('/items/:id', (ctx) => {
    ctx.raw.req.socket.on('close', () => closed.push('connection'));
    ctx.raw.res.on('close', () => closed.push('response'));
    resolve(ctx);
    return end(ctx);
  });

  await post(app);

  expect(closed.toSorted()).toEqual(['connection', 'response']);
  const { socket } = (await promise).raw.req;
  expect([socket.destroyed, socket.writable]).toEqual([true, false]);
});

test('a dispatched request that is over leaves no listener at the one that dispatched it', async () => {
  const app = createApp();
  app.get('/items/:id', () => 'item');
  app.post('/', async (ctx) => {
    const before = ctx.raw.res.listenerCount('close');
    await dispatch(ctx, toItem());
    return ctx.raw.res.listenerCount('close') - before;
  });

  expect(await (await request(app, '/', { method: 'POST' })).json()).toBe(0);
});

test('a dispatched request has the address of the client, and the Host of its request', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', host: 'ignored' };
  const app = appWith(toItem({ headers }));
  app.get('/items/:id', (ctx) => [
    ctx.ip,
    ctx.host,
    ctx.protocol,
    ctx.raw.req.socket.remoteAddress,
  ]);

  const { text = '' } = await post(app, { Host: 'api.example' });

  expect(JSON.parse(text)).toEqual(['203.0.113.9', 'api.example', 'http', '127.0.0.1']);
});

test('a dispatched request aborts when the client disconnects', async () => {
  const begun = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<number>();
  const app = appWith(toItem());
  app.get('/items/:id', async (ctx) => {
    onSent(ctx, sent.resolve);
    begun.resolve();
    await sleep(60_000, undefined, { signal: ctx.signal });
  });
  const { port } = await serve(app);
  const client = openConnection(port).send(GET.replace('GET', 'POST'));
  await begun.promise;

  client.close();

  expect(await sent.promise).toBe(499);
});

test('a request whose client has disconnected is not dispatched', async () => {
  const failed = Promise.withResolvers<unknown>();
  const handler = vi.fn();
  const app = createApp();
  app.get('/items/:id', handler);
  app.post('/', async (ctx) => {
    const closed = new Promise((resolve) => ctx.raw.res.once('close', resolve));
    ctx.raw.req.socket.destroy();
    await closed;
    await dispatch(ctx, toItem()).catch(failed.resolve);
  });

  await request(app, '/', { method: 'POST' }).catch(() => undefined);

  expect(String(await failed.promise)).toContain('The client has disconnected');
  expect(handler).not.toHaveBeenCalled();
});
