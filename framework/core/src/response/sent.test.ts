import { Readable } from 'node:stream';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Context } from '../context.ts';
import { onSent } from '../extension.ts';
import { listen } from '../server/listen.ts';
import { request } from '../testing/index.ts';

const quiet = { info() {}, warn() {}, error() {} };

describe('onSent', () => {
  test.each<readonly [string, number, (ctx: Context) => void]>([
    ['a response', 200, (ctx) => ctx.json({})],
    ['a streamed response', 200, (ctx) => ctx.send(Readable.from(['a', 'b']))],
    ['an error', 400, (ctx) => ctx.throw(400)],
  ])('reports the status of %s', async (_, expected, handler) => {
    const sent = Promise.withResolvers<number>();
    const app = createApp({ logger: quiet }).use((ctx) => {
      onSent(ctx, sent.resolve);
      return handler(ctx);
    });

    const { status } = await request(app, '/');

    expect(status).toBe(expected);
    expect(await sent.promise).toBe(expected);
  });

  test('calls every listener once, also if one throws', async () => {
    const logged: unknown[] = [];
    const statuses: number[] = [];
    const logger = { ...quiet, error: (_: string, error: unknown) => logged.push(error) };
    const app = createApp({ logger }).use((ctx) => {
      onSent(ctx, () => {
        throw new Error('broken');
      });
      onSent(ctx, (status) => statuses.push(status));
      ctx.json({});
    });

    await request(app, '/');

    expect(statuses).toEqual([200]);
    expect(logged).toEqual([new Error('broken')]);
  });

  test.each<readonly [string, (ctx: Context) => void]>([
    ['a response', (ctx) => ctx.json({})],
    ['a response that the socket has not accepted', (ctx) => ctx.send('x'.repeat(20_000_000))],
  ])('calls a listener that is added after %s', async (_, respond) => {
    const sent = Promise.withResolvers<number>();
    const app = createApp({ logger: quiet }).use((ctx) => {
      setImmediate(() => onSent(ctx, sent.resolve));
      respond(ctx);
    });

    await request(app, '/');

    expect(await sent.promise).toBe(200);
  });

  test('reports 499 if the client disconnects before the response is complete', async () => {
    const sent = Promise.withResolvers<number>();
    const started = Promise.withResolvers<void>();
    const app = createApp({ logger: quiet }).use(async (ctx) => {
      onSent(ctx, sent.resolve);
      const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      started.resolve();
      await aborted;
      ctx.json({});
    });
    const server = await listen(app, 0);
    onTestFinished(() => server.close());
    const client = new AbortController();
    const response = fetch(`http://127.0.0.1:${server.port}/`, { signal: client.signal });
    await started.promise;

    client.abort();

    await expect(response).rejects.toThrow();
    expect(await sent.promise).toBe(499);
  });
});
