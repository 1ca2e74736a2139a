import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createApp } from './application.ts';
import type { Context } from './context.ts';
import { dispatch } from './extension.ts';
import { http } from './node/http.ts';
import { quiet, recordLog, request } from './testing/index.ts';
import { exchange } from './testing/vitest.ts';

const WARNING =
  'warn: GET /items/:id used ctx after its response was sent: this has no effect; return a promise that settles when all work is done; for a function with a callback, use its promise form';

describe('after the response was sent', () => {
  test.each<readonly [string, (ctx: Context) => unknown]>([
    ['ctx.send()', (ctx) => ctx.send('late')],
    ['ctx.send(undefined)', (ctx) => ctx.send(undefined as never)],
    ['ctx.json()', (ctx) => ctx.json({ late: 1n })],
    ['ctx.html()', (ctx) => ctx.html('late')],
    ['ctx.redirect()', (ctx) => ctx.redirect(undefined as never)],
    ['ctx.set()', (ctx) => ctx.set('X-Late', undefined as never)],
    ['ctx.append()', (ctx) => ctx.append('X-Late', '1')],
    ['ctx.status', (ctx) => Reflect.set(ctx, 'status', 1_000)],
  ])('%s has no effect and causes one warning per route', async (_, call) => {
    const { logger, problems } = recordLog();
    const calls: unknown[] = [];
    const app = createApp({ logger }).get('/items/:id', (ctx) => {
      setImmediate(() => calls.push(call(ctx)));
    });

    const responses = [await request(app, '/items/1'), await request(app, '/items/2')];
    await expect.poll(() => calls).toHaveLength(2);

    expect(responses.map(({ status }) => status)).toEqual([204, 204]);
    expect(problems).toEqual([WARNING]);
  });

  test.each<readonly [string, (onClose: () => void) => Readable | ReadableStream]>([
    ['web stream', (cancel) => new ReadableStream({ cancel })],
    ['Node stream', (onClose) => new Readable({ read() {} }).on('close', onClose)],
  ])('a %s that is sent too late is closed', async (_, open) => {
    const closed = Promise.withResolvers<void>();
    const late = open(closed.resolve);
    const app = createApp({ logger: quiet }).get('/', (ctx) => {
      setImmediate(() => ctx.send(late));
    });

    await request(app, '/');

    await closed.promise;
  });

  test('a failure of a stream that is sent too late has no effect', async () => {
    const { logger, errors } = recordLog();
    const failed = Promise.withResolvers<void>();
    const late = new Readable({ read() {} });
    const app = createApp({ logger }).get('/', (ctx) => {
      setImmediate(() => {
        ctx.send(late);
        failed.resolve(Promise.try(() => void late.emit('error', new Error('disk broken'))));
      });
    });

    await request(app, '/');
    await failed.promise;

    expect(errors).toEqual([]);
  });
});

describe('after the response was sent, ctx.raw.res', () => {
  /** Calls twice after `res.end()`, and returns what was logged or would end the process. */
  async function callLate(call: (res: ServerResponse) => unknown) {
    const { logger, problems } = recordLog();
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => void failures.push(error);
    process.on('uncaughtExceptionMonitor', onFailure);
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', onFailure));
    const called = Promise.withResolvers<void>();
    const app = createApp({ logger }).use(({ raw: { res } }, next) => {
      res.once('prefinish', () => {
        setImmediate(called.resolve);
        try {
          call(res);
          call(res);
        } catch (error) {
          onFailure(error);
        }
      });
      return next();
    });
    app.get('/items/:id', () => 'sent');
    const response = await request(app, '/items/7?q=1');
    await called.promise;
    expect(response.status).toBe(200);
    expect(response.headers.has('x-late')).toBe(false);
    expect(await response.text()).toBe('sent');
    return { problems, failures };
  }

  test.for<readonly [string, (res: ServerResponse) => unknown]>([
    ['setHeader', (res) => res.setHeader('X-Late', '1')],
    ['setHeaders', (res) => res.setHeaders(new Map([['X-Late', '1']]))],
    ['appendHeader', (res) => res.appendHeader('X-Late', '1')],
    ['removeHeader', (res) => res.removeHeader('Content-Type')],
    ['writeHead', (res) => res.writeHead(500, { 'X-Late': '1' })],
    ['flushHeaders', (res) => res.flushHeaders()],
    ['write', (res) => res.write('late')],
    ['end', (res) => res.end('late')],
  ])('%s has no effect and causes one warning', async ([method, call]) => {
    expect(await callLate(call)).toEqual({
      problems: [
        `warn: GET /items/7 called res.${method}() after its response was sent: this has no effect; check res.headersSent before`,
      ],
      failures: [],
    });
  });

  test.for<readonly [string, (res: ServerResponse) => unknown]>([
    ['end without data', (res) => res.end()],
    ['end with a callback', (res) => res.end(() => {})],
    ['writeContinue', (res) => res.writeContinue()],
    ['writeProcessing', (res) => res.writeProcessing()],
    ['writeEarlyHints', (res) => res.writeEarlyHints({ link: '</a>; rel=preload' })],
  ])('%s has no effect and causes no warning', async ([, call]) => {
    expect(await callLate(call)).toEqual({ problems: [], failures: [] });
  });

  test('a late setHeader of a dispatched request does not throw on a server of Node', async () => {
    const late = Promise.withResolvers<unknown>();
    const app = createApp();
    app.post('/', async (ctx) => {
      const route = { method: 'GET', path: '/items/:id' };
      const target = { route, url: '/items/7', headers: {}, via: 'test', limitBytes: 100 };
      return (await dispatch(ctx, target)).body;
    });
    app.get('/items/:id', ({ raw: { res } }) => {
      late.resolve(turn().then(() => res.setHeader('X-Late', '1')));
      return 'sent';
    });
    const server = http.createServer(app.handle).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };

    const request = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

    expect(await exchange(port, request)).toMatch(/\r\n\r\nsent$/);
    await late.promise;
  });
});

test('a stream can set headers until its first chunk is sent', async () => {
  const { logger, problems } = recordLog();
  const app = createApp({ logger }).get('/', (ctx) => {
    const stream = new ReadableStream({
      async start(controller) {
        await turn();
        ctx.set('X-Total', 7);
        controller.enqueue('text');
        controller.close();
      },
    });
    return ctx.send(stream);
  });

  const response = await request(app, '/');

  expect(response.headers.get('x-total')).toBe('7');
  expect(problems).toEqual([]);
});
