import { afterAll, beforeAll, expect, test } from 'vitest';

import { connect, type TestClient } from '../../../rate-limit/src/testing/redis-client.ts';
import {
  type RedisServer,
  startRedisServer,
} from '../../../rate-limit/src/testing/redis-server.ts';
import { redisStore } from './redis.ts';

let server: RedisServer;
let client: TestClient;
beforeAll(async () => {
  server = await startRedisServer();
  client = await connect(server.url);
});
afterAll(async () => {
  client.destroy();
  await server.stop();
});

const attemptOf = (key: string, owner = 'a') => ({
  key,
  fingerprint: 'f',
  owner,
  nowMs: 0,
  retentionMs: 60_000,
});
const ttl = async (key: string) => Number(await client.sendCommand(['PTTL', `idempotency:${key}`]));

test('one of many concurrent claims of several clients succeeds', async () => {
  const other = await connect(server.url);
  const stores = [redisStore(client), redisStore(other)];

  const claims = await Promise.all(
    Array.from({ length: 100 }, (_, at) => stores[at % 2]?.claim(attemptOf('one', `${at}`))),
  );
  other.destroy();

  expect(claims.filter((saved) => saved === undefined)).toHaveLength(1);
  expect(claims.filter((saved) => saved?.fingerprint === 'f')).toHaveLength(99);
});

test('a response, also an empty one, is stored for its retention, a claim for the lease or its release', async () => {
  const store = redisStore(client, { leaseMs: 5_000 });
  await store.claim(attemptOf('times'));
  const lease = await ttl('times');

  await store.finish(attemptOf('times'), 'response');

  expect(lease).toBeLessThanOrEqual(5_000);
  expect(await ttl('times')).toBeGreaterThan(5_000);
  expect(await store.claim(attemptOf('times', 'b'))).toEqual({
    fingerprint: 'f',
    response: 'response',
  });
  await store.finish(attemptOf('empty'), '');
  expect(await store.claim(attemptOf('empty'))).toEqual({ fingerprint: 'f', response: '' });
  await store.claim(attemptOf('free'));
  await store.release(attemptOf('free'));
  expect(await store.claim(attemptOf('free', 'b'))).toBeUndefined();
});

test('after its lease, an attempt neither replaces nor frees the claim of another one', async () => {
  const store = redisStore(client, { leaseMs: 1 });
  const patient = redisStore(client);
  await store.claim(attemptOf('late'));
  await expect.poll(() => patient.claim(attemptOf('late', 'b'))).toBeUndefined();

  const isStored = await store.finish(attemptOf('late'), 'late');
  await store.release(attemptOf('late'));

  expect(isStored).toBe(false);
  expect(await patient.claim(attemptOf('late', 'c'))).toEqual({ fingerprint: 'f' });
  expect(await patient.finish(attemptOf('late', 'b'), 'timely')).toBe(true);
});

test('after its lease, an attempt without a successor still stores its response', async () => {
  const store = redisStore(client, { leaseMs: 1 });
  await store.claim(attemptOf('alone'));
  await expect.poll(() => ttl('alone')).toBe(-2);

  expect(await store.finish(attemptOf('alone'), 'response')).toBe(true);
});

test.each([
  ['is not connected', { isReady: false, sendCommand: async () => null }],
  ['does not respond', { isReady: true, sendCommand: () => new Promise(() => {}) }],
  [
    'rejects commands',
    { isReady: true, sendCommand: () => Promise.reject(new Error('READONLY replica')) },
  ],
])('a client that %s causes a 503 with Retry-After', async (_, broken) => {
  const store = redisStore({ ...broken, on: () => {} }, { timeoutMs: 10 });

  await expect(store.claim(attemptOf('k'))).rejects.toMatchObject({
    status: 503,
    headers: { 'Retry-After': '1' },
  });
});
