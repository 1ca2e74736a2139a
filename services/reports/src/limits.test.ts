import { request } from '@fw/core/testing';
import { recordLog } from '@fw/service/testing';
import { createClient } from 'redis';
import { expect, onTestFinished, test, vi } from 'vitest';

import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { openLimitStore } from './limits.ts';
import { newApp, newLimits, tokenOf } from './testing.ts';

const V1 = '/api/v1/reports';
const V2 = '/api/v2/reports';

const ADA = tokenOf('ada');

/** Creates the API behind a proxy; `counts` has the number of read figures. */
function newApi(limits = newLimits()) {
  const counts = { read: 0 };
  const app = newApp({
    trustProxy: 1,
    limits,
    async readFigures() {
      counts.read++;
      return {};
    },
  });
  const send = (token: string | undefined, { ip = '192.0.2.1', path = V2 } = {}) =>
    request(app, path, {
      headers: {
        'X-Forwarded-For': ip,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
    });
  /** The number of requests that remain; `undefined` after 429. */
  const remaining = async (token: string, path = V2) => {
    const { status, headers } = await send(token, { path });
    return status === 429 ? undefined : Number(headers.get('ratelimit-remaining'));
  };
  return { send, remaining, counts };
}

test('version 1 allows each user of any tier 100 requests per minute', async () => {
  const { remaining } = newApi(newLimits({ free: 1, pro: 2 }));

  expect(await remaining(ADA, V1)).toBe(99);
  expect(await remaining(tokenOf('ada', 'pro'), V1)).toBe(98);
  expect(await remaining(tokenOf('grace', 'pro'), V1)).toBe(99);
});

test('version 2 applies the limit of the tier in the token, and counts separately', async () => {
  const { remaining } = newApi(newLimits({ free: 1, pro: 3 }));

  const bob = tokenOf('bob', 'pro');

  expect([await remaining(ADA), await remaining(ADA)]).toEqual([0, undefined]);
  expect([await remaining(bob), await remaining(bob)]).toEqual([2, 1]);
  expect(await remaining(ADA, V1)).toBe(99);
});

test('above the limit of the tier no figures are read', async () => {
  const { send, counts } = newApi(newLimits({ free: 1 }));
  await send(ADA);

  const rejected = await send(ADA, { path: `${V2}/overview` });

  expect(rejected.status).toBe(429);
  expect(rejected.headers.get('content-type')).toBe('application/problem+json');
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMITED' });
  expect(counts.read).toBe(0);
});

test.each([V1, V2, `${V2}/users-by-day`])(
  'of 300 concurrent requests for %s with an invalid token 30 get 401, the others 429',
  async (path) => {
    const { send } = newApi();

    const responses = await Promise.all(
      Array.from({ length: 300 }, () => send('eve-token', { path })),
    );
    const valid = await send(ADA, { path });

    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(270);
    expect(valid.status).toBe(429);
  },
);

test('both versions count invalid tokens together', async () => {
  const { send } = newApi(newLimits({ invalidTokens: 2 }));

  const statuses = [];
  for (const path of [V1, V2, V1, V2]) statuses.push((await send('eve-token', { path })).status);

  expect(statuses).toEqual([401, 401, 429, 429]);
});

test('requests with a valid token or without one never count as invalid', async () => {
  const { send, remaining } = newApi(newLimits({ invalidTokens: 1 }));

  const statuses = [];
  for (let sent = 0; sent < 3; sent++) {
    statuses.push((await send(ADA)).status, (await send(undefined)).status);
  }

  expect(statuses).toEqual([200, 401, 200, 401, 200, 401]);
  expect(await remaining(ADA)).toBe(96);
  expect((await send('eve-token')).status).toBe(401);
});

test('invalid tokens are limited by address, those of IPv6 by /64', async () => {
  const { send } = newApi(newLimits({ invalidTokens: 1 }));

  const statuses = [];
  for (const ip of ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']) {
    statuses.push((await send('eve-token', { ip })).status);
  }

  expect(statuses).toEqual([401, 401, 401, 429, 401]);
});

test('replicas count invalid tokens together in Redis', async () => {
  const redis = await startRedisServer();
  onTestFinished(() => redis.stop());
  const newReplica = async () => {
    const { store, close } = await openLimitStore(() => redis.url);
    onTestFinished(close);
    return newApi(newLimits({ invalidTokens: 10 }, store));
  };
  const [first, second] = [await newReplica(), await newReplica()];
  // Until a replica is connected, and while the server is slow, it counts alone.
  let tries = 0;
  await vi.waitFor(async () => {
    const ip = `192.0.2.${++tries}`;

    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, at) => (at % 2 ? first : second).send('eve-token', { ip })),
    );

    expect(responses.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(50);
  }, 60_000);
});

/** A Redis server, and a client that is its administrator. */
async function newRedis() {
  const redis = await startRedisServer();
  onTestFinished(() => redis.stop());
  const admin = createClient({ url: redis.url });
  await admin.connect();
  onTestFinished(() => admin.destroy());
  const send = (...args: string[]) => admin.sendCommand(args);
  return { url: redis.url, send, keys: async () => Number(await send('DBSIZE')) };
}

test('a changed address of Redis is used for new connections, and open ones remain', async () => {
  const [redis, other] = [await newRedis(), await newRedis()];
  const setUser = (...rules: string[]) => redis.send('ACL', 'SETUSER', 'reports', ...rules);
  const endConnections = () => redis.send('CLIENT', 'KILL', 'USER', 'reports');
  await setUser('on', '>old', '~*', '+@all');
  const as = (password: string) => redis.url.replace('//', `//reports:${password}@`);
  let url = as('old');
  const { lines, logger } = recordLog();
  const { store, close } = await openLimitStore(() => url, logger);
  onTestFinished(close);
  const { send } = newApi(newLimits({}, store));
  let users = 0;
  /** Sends a request of a new user, which must be counted in Redis. */
  const isCounted = async ({ keys } = redis) => {
    const before = await keys();
    const { status } = await send(tokenOf(`user-${users++}`));
    expect(status).toBe(200);
    expect(await keys()).toBe(before + 1);
  };
  await vi.waitFor(() => isCounted(), 20_000);

  await setUser('>new');
  url = as('new');
  await setUser('<old');
  await isCounted();
  await endConnections();
  await vi.waitFor(() => isCounted(), 20_000);
  expect(lines).not.toContainEqual(expect.stringContaining('WRONGPASS'));

  await setUser('>newest', '<new');
  await endConnections();
  const rejected = 'Redis cannot be used for rate limits: WRONGPASS';
  await vi.waitFor(() => expect(lines.at(-1)).toContain(rejected), 20_000);
  expect((await send(ADA)).status).toBe(200); // counted in this process
  url = `${redis.url}/no-number`;
  const invalid = 'Redis cannot be used for rate limits: Invalid pathname';
  await vi.waitFor(() => expect(lines).toContain(invalid), 20_000);
  url = as('newest');
  await vi.waitFor(() => isCounted(), 20_000);

  url = other.url;
  await endConnections();
  await vi.waitFor(() => isCounted(other), 20_000);
});
