import { request } from '@fw/core/testing';
import { createApp, errorHandler, type Middleware } from 'fw';
import { expect, onTestFinished, test, vi } from 'vitest';

import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { readTier } from './auth/jwt.ts';
import { openLimitStore } from './limits.ts';
import { newLimits } from './testing/app.ts';

const logger = { info() {}, warn() {}, error() {} };

/** Creates a function that sends a request; resolves with the remaining number, or `undefined` after 429. */
function newReplica(limiter: Middleware, { trustProxy = 0 } = {}) {
  const app = createApp({ logger, trustProxy });
  app.use(errorHandler());
  app.use((ctx, next) => {
    const [id, tier] = (ctx.get('x-user') ?? '').split(' ');
    if (id) ctx.state.user = { id, tier: readTier(tier) };
    return next();
  }, limiter);
  app.use((ctx) => ctx.send('passed'));
  return async (user: string, headers = {}) => {
    const response = await request(app, '/', { headers: { 'x-user': user, ...headers } });
    if (response.status === 429) return undefined;
    return Number(response.headers.get('ratelimit-remaining'));
  };
}

test('v1 allows each user of any tier 100 requests per minute', async () => {
  const send = newReplica(newLimits({ perMinute: { free: 1, pro: 2 } }).v1);

  expect(await send('ada free')).toBe(99);
  expect(await send('ada pro')).toBe(98);
  expect(await send('grace pro')).toBe(99);
});

test('v2 applies the limit of the tier in the token', async () => {
  const send = newReplica(newLimits({ perMinute: { free: 1, pro: 3 } }).v2);

  expect([await send('ada free'), await send('ada free')]).toEqual([0, undefined]);
  expect([await send('bob gold'), await send('bob gold')]).toEqual([0, undefined]);
  expect([await send('eve pro'), await send('eve pro')]).toEqual([2, 1]);
});

test('the versions count separately', async () => {
  const { v1, v2 } = newLimits();
  const sendFirst = newReplica(v1);
  const sendSecond = newReplica(v2);

  expect([await sendFirst('ada free'), await sendFirst('ada free')]).toEqual([99, 98]);
  expect(await sendSecond('ada free')).toBe(99);
});

test('requests without a user count by client address', async () => {
  const send = newReplica(newLimits().v1, { trustProxy: 1 });

  expect(await send('', { 'x-forwarded-for': '192.0.2.1' })).toBe(99);
  expect(await send('', { 'x-forwarded-for': '192.0.2.1' })).toBe(98);
  expect(await send('', { 'x-forwarded-for': '192.0.2.2' })).toBe(99);
});

test('replicas count together in Redis, and each alone while Redis is unavailable', async () => {
  const redis = await startRedisServer();
  onTestFinished(() => redis.stop());
  const perMinute = { free: 1_000, pro: 1_000 };
  const newRedisReplica = async () => {
    const { store, close } = await openLimitStore(redis.url);
    onTestFinished(close);
    return newReplica(newLimits({ perMinute, store }).v2);
  };
  const [first, second] = [await newRedisReplica(), await newRedisReplica()];
  // Until they are connected, and while the server is slow, each counts alone.
  let tries = 0;
  await vi.waitFor(async () => {
    const user = `ada-${++tries} free`;
    expect([await first(user), await second(user), await first(user)]).toEqual([999, 998, 997]);
  }, 60_000);

  await redis.signal('SIGKILL');

  expect([await first('grace free'), await second('grace free')]).toEqual([999, 999]);
});
