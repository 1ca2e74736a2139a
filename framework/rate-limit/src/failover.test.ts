import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, test } from 'vitest';

import type { OnStoreError } from './failover.ts';
import { memoryStore } from './memory-store.ts';
import { type RateLimiter, rateLimit, tieredRateLimit } from './rate-limit.ts';
import type { RateLimitStore } from './store.ts';

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
  const lines: string[] = [];
  const log = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const logger = { info: log('info'), warn: log('warn'), error: log('error') };
  const appWith = (onStoreError: OnStoreError, max = 2) =>
    createApp({ logger }).use(
      errorHandler(),
      rateLimit({ max, window: '1m', store, onStoreError }),
      (ctx) => ctx.send('ok'),
    );
  return { state, store, lines, appWith };
}

async function statuses(app: ReturnType<typeof createApp>, count: number) {
  const seen = [];
  for (let sent = 0; sent < count; sent++) seen.push((await request(app, '/')).status);
  return seen;
}

test('local: while the store fails, each process applies the limit itself', async () => {
  const { state, lines, appWith } = createWorld();
  const app = appWith('local');
  state.isBroken = true;

  expect(await statuses(app, 4)).toEqual([200, 200, 429, 429]);
  expect(lines).toEqual([
    'error: The rate limit store fails: limits are not exact until it recovers',
  ]);
});

test('open: while the store fails, all requests pass without headers', async () => {
  const { state, appWith } = createWorld();
  const app = appWith('open');
  state.isBroken = true;

  expect(await statuses(app, 4)).toEqual([200, 200, 200, 200]);
  expect((await request(app, '/')).headers.get('RateLimit-Limit')).toBeNull();
});

test('closed: while the store fails, requests get 503', async () => {
  const { state, appWith } = createWorld();
  const app = appWith('closed');
  state.isBroken = true;

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('Retry-After')).toBe('1');
  expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('a store that fails is tried again and counts after its recovery', async () => {
  const { state, lines, appWith } = createWorld();
  const app = appWith('local', 3);
  state.isBroken = true;
  await statuses(app, 50);
  const calledWhileBroken = state.called;

  state.isBroken = false;
  await sleep(300);
  await request(app, '/'); // counted locally, and counted by the store in the background
  const after = await statuses(app, 3);

  expect(calledWhileBroken).toBeLessThan(10);
  expect(after).toEqual([200, 200, 429]);
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
  const logger = { info() {}, warn() {}, error() {} };
  const app = createApp({ logger }).use(limiters[0] as RateLimiter, (ctx) => ctx.send('ok'));
  expect(available()).toEqual([true, true]);

  state.isBroken = true;
  await request(app, '/');

  expect(available()).toEqual([false, false]);
  expect(rateLimit().isStoreAvailable()).toBe(true);
});

test('limiters that share a store log its failure once', async () => {
  const { state, lines, appWith } = createWorld();
  const apps = [appWith('local'), appWith('local', 5), appWith('open')];
  state.isBroken = true;

  for (const app of apps) await statuses(app, 2);

  expect(lines).toHaveLength(1);
});

test('a store that throws counts as failing', async () => {
  const store: RateLimitStore = {
    counter: () => ({
      hit: () => {
        throw new Error('broken');
      },
    }),
  };
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const app = createApp({ logger }).use(errorHandler(), rateLimit({ max: 1, store }), (ctx) =>
    ctx.send('ok'),
  );

  expect(await statuses(app, 2)).toEqual([200, 429]);
});
