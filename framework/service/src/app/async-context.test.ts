import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';

import { json } from '@fw/body-parser';
import { rateLimit } from '@fw/rate-limit';
import { redisStore } from '@fw/rate-limit/redis';
import { createApp, errorHandler, type Middleware } from 'fw';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { createBatch } from '../postgres/batch.ts';
import { createGroupCommit } from '../sqlite/group-commit.ts';
import { serve } from '../testing/vitest.ts';
import { shedLoad } from './load-shedding.ts';

const storage = new AsyncLocalStorage<string>();

/** Emits `tick` again and again from outside every request, as a socket that several requests share does. */
const outside = new EventEmitter().setMaxListeners(0);
beforeAll(() => {
  const timer = setInterval(() => outside.emit('tick'), 1);
  return () => clearInterval(timer);
});

/** A Redis server that allows each hit, in a reply that arrives in the context of its connection. */
const redis = {
  isReady: true,
  sendCommand: () =>
    new Promise<unknown>((resolve) => outside.once('tick', () => resolve([1, 1_000]))),
  on() {},
};

/** Finishes when the next tick arrives from outside. */
const waitForEvent: Middleware = async (_ctx, next) => {
  await once(outside, 'tick');
  await next();
};

interface Sent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

const PLAIN: Sent = { body: '{}' };
const COMPRESSED: Sent = {
  body: new Uint8Array(gzipSync('{}')),
  headers: { 'Content-Encoding': 'gzip' },
};

test.for<readonly [string, () => readonly Middleware[], Sent?]>([
  ['json()', () => [json()]],
  ['json({ inflate })', () => [json({ inflate: true })], COMPRESSED],
  ['rateLimit() with the Redis store', () => [rateLimit({ store: redisStore(redis) })]],
  [
    'shedLoad()',
    () => [shedLoad({ maxInFlight: 9 }, { ...createMetrics(), isSaturated: false }), waitForEvent],
  ],
  ['createBatch()', () => [waitFor(createBatch(async (items: readonly string[]) => items))]],
  ['createGroupCommit()', () => [commitInGroup()]],
])(
  '%s preserves the AsyncLocalStorage of the request',
  async ([, create, { body, headers } = PLAIN]) => {
    const seen: unknown[] = [];
    const look: Middleware = async (_ctx, next) => {
      seen.push(storage.getStore());
      await next();
      seen.push(storage.getStore());
    };
    const app = createApp()
      .use(errorHandler())
      .use((ctx, next) => storage.run(String(ctx.get('x-name')), next))
      .use(look, ...create(), look)
      .use((ctx) => ctx.json({ store: storage.getStore() }));
    const server = await serve(app);

    const ask = async (name: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}/`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Name': name, ...headers },
        body,
      });
      return response.json();
    };

    expect(await Promise.all([ask('a'), ask('b')])).toEqual([{ store: 'a' }, { store: 'b' }]);
    expect(seen.toSorted()).toEqual(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b']);
  },
);

function waitFor(work: (item: string) => Promise<unknown>): Middleware {
  return async (ctx, next) => {
    await work(ctx.requestId);
    await next();
  };
}

function commitInGroup(): Middleware {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  const { write } = createGroupCommit(database);
  return waitFor((item) => write(() => item));
}
