import { once } from 'node:events';
import { Readable } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Context, Middleware } from '../context.ts';
import { onSent } from '../extension.ts';
import { openConnection, quiet, recordLog, request } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';

async function* endless() {
  yield 'first';
  await new Promise(() => {});
}

/** An application with this middleware, and the status that a listener gets. */
function reporting(handler: Middleware) {
  const sent = Promise.withResolvers<number>();
  const app = createApp({ logger: quiet }).use((ctx, next) => {
    onSent(ctx, sent.resolve);
    return next();
  }, handler);
  return { app, sent: sent.promise };
}

describe('onSent', () => {
  test.each<readonly [string, number, (ctx: Context) => void]>([
    ['a response', 200, (ctx) => ctx.json({})],
    ['a streamed response', 200, (ctx) => ctx.send(Readable.from(['a', 'b']))],
    ['an error', 400, (ctx) => ctx.throw(400)],
  ])('reports the status of %s', async (_, expected, handler) => {
    const { app, sent } = reporting(handler);

    const { status } = await request(app, '/');

    expect(status).toBe(expected);
    expect(await sent).toBe(expected);
  });

  test('calls every listener once, also if one throws', async () => {
    const { logger, problems, errors } = recordLog();
    const statuses: number[] = [];
    const app = createApp({ logger }).use((ctx) => {
      onSent(ctx, () => {
        throw new Error('broken');
      });
      onSent(ctx, (status) => statuses.push(status));
      ctx.json({});
    });

    await request(app, '/');

    expect(statuses).toEqual([200]);
    expect(problems).toEqual(['error: A listener failed after the response was sent']);
    expect(errors).toEqual([new Error('broken')]);
  });

  test('calls only the new listener if one is added after another was called', async () => {
    const { logger, problems } = recordLog();
    const calls: string[] = [];
    const isOver = Promise.withResolvers<void>();
    const app = createApp({ logger }).use((ctx) => {
      onSent(ctx, () => calls.push('first'));
      setImmediate(() => {
        onSent(ctx, () => calls.push('second'));
        isOver.resolve();
      });
      ctx.json({});
    });

    await request(app, '/');
    await isOver.promise;

    expect(calls).toEqual(['first', 'second']);
    expect(problems).toEqual([]);
  });

  test('calls a listener that is added before the socket has accepted the response', async () => {
    const sent = Promise.withResolvers<number>();
    const app = createApp({ logger: quiet }).use((ctx) => {
      setImmediate(() => onSent(ctx, sent.resolve));
      ctx.send('x'.repeat(20_000_000));
    });

    await request(app, '/');

    expect(await sent.promise).toBe(200);
  });

  test('reports 499 if the client disconnects before the response is complete', async () => {
    const started = Promise.withResolvers<void>();
    const { app, sent } = reporting(async (ctx) => {
      const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      started.resolve();
      await aborted;
      ctx.json({});
    });
    const { port } = await serve(app);
    const client = openConnection(port).send(GET);
    await started.promise;

    client.close();

    expect(await sent).toBe(499);
  });

  test('calls a listener at once if the socket has accepted the response', async () => {
    const events: string[] = [];
    const app = createApp({ logger: quiet }).use((ctx) => {
      ctx.raw.res.on('finish', () => events.push('finish'));
      onSent(ctx, () => events.push('sent'));
      ctx.json({});
    });
    const server = await serve(app);
    const client = openConnection(server.port).send(GET);

    await client.read(/\{\}/);
    client.close();

    expect(events).toEqual(['sent', 'finish']);
  });

  const TYPE = ['Content-Type', 'text/event-stream; charset=utf-8'] as const;

  test.each<readonly [string, number, (ctx: Context) => unknown]>([
    ['a stream without an end', 499, (ctx) => ctx.send(Readable.from(endless()))],
    ['a large body', 499, (ctx) => ctx.send(Buffer.alloc(20_000_000))],
    ['an event stream', 200, (ctx) => ctx.set(...TYPE).send(Readable.from(endless()))],
    ['an event stream of Node', 200, ({ raw }) => raw.res.writeHead(200, [...TYPE]).write(':\n\n')],
    ['an event stream of Express', 200, ({ raw }) => raw.res.setHeader(...TYPE).write(':')],
    [
      'another stream of Node',
      499,
      ({ raw }) => raw.res.writeHead(200, {}).write('text/event-stream'),
    ],
  ])('reports for %s, whose client disconnects, %i', async (_, status, open) => {
    const { app, sent } = reporting(async (ctx) => {
      open(ctx);
      if (ctx.raw.res.headersSent) await once(ctx.raw.res, 'close');
    });
    const server = await serve(app);
    const client = openConnection(server.port).send(GET);
    await client.read(/\r\n\r\n/);

    client.close();

    expect(await sent).toBe(status);
  });

  test.each(
    Object.entries<(ctx: Context) => void>({
      'a stream fails': (ctx) => {
        const stream = new Readable({ read() {} });
        stream.push('first');
        ctx.send(stream);
        ctx.raw.res.once('pipe', () => setImmediate(() => stream.destroy(new Error('broken'))));
      },
      'the source of an event stream fails': (ctx) => {
        const source = async function* () {
          yield 'first';
          throw new Error('broken');
        };
        ctx.set(...TYPE).send(Readable.from(source()));
      },
      'a value that is not an error is thrown': (ctx) => {
        ctx.raw.res.write('first');
        throw 'broken';
      },
    }),
  )('reports 500 if %s after the head was sent', async (_, handler) => {
    const { app, sent } = reporting(handler);
    const server = await serve(app);

    await exchange(server.port, GET);

    expect(await sent).toBe(500);
  });
});
