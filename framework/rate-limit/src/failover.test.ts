import { setImmediate } from 'node:timers/promises';
import { createApp } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, test } from 'vitest';
import { createCounts, type OnStoreError } from './failover.ts';
import { memoryStore } from './memory-store.ts';
import { type RateLimiter, rateLimit, tieredRateLimit } from './rate-limit.ts';
import type { Hit, RateLimitStore } from './store.ts';
import { policyOf } from './testing/store-suite.ts';

/** A store that can be broken and mended, and a log of what was said about it. */
function createWorld() {
  const memory = memoryStore();
  const state = { isBroken: false, called: 0 };
  const store: RateLimitStore = {
    counter: (policy) => {
      const counter = memory.counter(policy);
      return {
        hit: async (key, cost) => {
          state.called++;
          if (state.isBroken) throw new Error('connection lost');
          return counter.hit(key, cost);
        },
      };
    },
  };
  const { logger, lines } = recordLog();
  const appWith = (onStoreError: OnStoreError, max = 2) =>
    createApp({ logger }).use(
      errorHandler(),
      rateLimit({ max, window: '1m', store, onStoreError }),
      (ctx) => ctx.send('ok'),
    );
  return { state, store, lines, logger, appWith };
}

async function statuses(app: ReturnType<typeof createApp>, count: number) {
  const seen = [];
  for (let sent = 0; sent < count; sent++) seen.push((await request(app, '/')).status);
  return seen;
}

test.each<readonly [OnStoreError, readonly number[], string | null]>([
  ['local', [200, 200, 429, 429], '2'],
  ['open', [200, 200, 200, 200], null],
  ['closed', [503, 503, 503, 503], null],
])('%s: while the store fails, requests get %j', async (onStoreError, expected, limit) => {
  const { state, lines, appWith } = createWorld();
  const app = appWith(onStoreError);
  state.isBroken = true;

  expect(await statuses(app, 4)).toEqual(expected);
  const { headers } = await request(app, '/');
  expect(headers.get('RateLimit-Limit')).toBe(limit);
  expect(headers.get('Retry-After')).toBe({ local: '60', open: null, closed: '1' }[onStoreError]);
  expect(lines.filter((line) => line.includes('store'))).toEqual([
    'error: The rate limit store fails: limits are not exact until it recovers',
  ]);
});

test('while the store fails, findRefusal knows only what was counted in this process', async () => {
  const { state, store, logger } = createWorld();
  const policy = policyOf({ max: 1, windowMs: 60_000 });
  const [local, other, open, closed] = (['local', 'local', 'open', 'closed'] as const).map(
    (onStoreError) => createCounts(store, policy, { onStoreError }),
  );
  state.isBroken = true;
  await other?.hit('key', 1, { log: logger });

  const before = local?.findRefusal('key', 1);
  await local?.hit('key', 1, { log: logger });

  expect(before).toBeUndefined();
  expect(local?.findRefusal('key', 1)).toMatchObject({ allowed: false, remaining: 0 });
  expect(open?.findRefusal('key', 1)).toBeUndefined();
  expect(() => closed?.findRefusal('key', 1)).toThrow('The rate limit store is unavailable');
});

test('a store that fails is tried again every 250 ms and counts after its recovery', async () => {
  const { state, store, lines, logger } = createWorld();
  let nowMs = 0;
  const counts = createCounts(store, policyOf({ max: 3, windowMs: 60_000 }), {
    onStoreError: 'local',
    clock: () => nowMs,
  });
  const hits = async (...times: readonly number[]) => {
    const allowed = [];
    for (const timeMs of times) {
      nowMs = timeMs;
      allowed.push((await counts.hit('key', 1, { log: logger }))?.allowed);
      await setImmediate();
    }
    return allowed;
  };

  state.isBroken = true;
  const whileBroken = await hits(0, 0, 0, 0, 249, 250, 251, 499);
  const calledWhileBroken = state.called;
  state.isBroken = false;
  const atRecovery = await hits(500); // counted locally, and by the store in the background
  const after = await hits(501, 501, 501);

  expect(whileBroken).toEqual([true, true, true, false, false, false, false, false]);
  expect(calledWhileBroken).toBe(2);
  expect(atRecovery).toEqual([false]);
  expect(after).toEqual([true, true, false]);
  expect(lines).toEqual([
    'error: The rate limit store fails: limits are not exact until it recovers',
    'info: The rate limit store has recovered: limits are exact again',
  ]);
});

test('parallel hits log a failure once, and a recovery once', async () => {
  const waiting: PromiseWithResolvers<Hit>[] = [];
  const hit = () => {
    const response = Promise.withResolvers<Hit>();
    waiting.push(response);
    return response.promise;
  };
  const { lines, logger } = createWorld();
  let nowMs = 0;
  const counts = createCounts({ counter: () => ({ hit }) }, policyOf(), {
    onStoreError: 'open',
    clock: () => nowMs,
  });

  const failing = [counts.hit('a', 1, { log: logger }), counts.hit('b', 1, { log: logger })];
  for (const { reject } of waiting.splice(0)) reject(new Error('connection lost'));
  await Promise.all(failing);
  for (nowMs = 1_000; nowMs <= 2_000; nowMs += 1_000) counts.hit('a', 1, { log: logger });
  for (const { resolve } of waiting) resolve({ allowed: true, remaining: 1, resetMs: 1 });
  await setImmediate();

  expect(waiting).toHaveLength(2);
  expect(lines).toEqual([
    'error: The rate limit store fails: limits are not exact until it recovers',
    'info: The rate limit store has recovered: limits are exact again',
  ]);
});

test('a limiter reports whether its store is available', async () => {
  const { state, store } = createWorld();
  const limiters = [
    rateLimit({ store, max: 1 }),
    tieredRateLimit({ store, tiers: { free: { max: 1 } }, tierResolver: () => 'free' }),
  ];
  const available = () => limiters.map((limiter) => limiter.isStoreAvailable());
  const app = createApp({ logger: quiet }).use(limiters[0] as RateLimiter, (ctx) => ctx.send('ok'));
  expect(available()).toEqual([true, true]);

  state.isBroken = true;
  await request(app, '/');

  expect(available()).toEqual([false, false]);
  expect(rateLimit().isStoreAvailable()).toBe(true);
});

test('a store that throws counts as failing', async () => {
  const store: RateLimitStore = {
    counter: () => ({
      hit: () => {
        throw new Error('broken');
      },
    }),
  };
  const app = createApp({ logger: quiet }).use(rateLimit({ max: 1, store }), (ctx) =>
    ctx.send('ok'),
  );

  expect(await statuses(app, 2)).toEqual([200, 429]);
});
