import { request } from '@fw/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { openLimitStore } from './limits.ts';
import { newApp, newLimits, verify } from './testing/app.ts';

const V1 = '/api/v1/reports';
const V2 = '/api/v2/reports';

/** Creates the API behind a proxy; `counts` has the number of verified tokens. */
function newApi(options: Parameters<typeof newApp>[0] = {}) {
  const counts = { verified: 0 };
  const app = newApp({
    trustProxy: 1,
    verify(token) {
      counts.verified++;
      return verify(token);
    },
    ...options,
  });
  const send = (token: string | undefined, { ip = '192.0.2.1', path = V2 } = {}) =>
    request(app, path, {
      headers: {
        'X-Forwarded-For': ip,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
    });
  return { send, counts };
}

test.each([V1, V2, `${V2}/users-by-day`])(
  'of 300 concurrent requests for %s with an invalid token 30 get 401, the others 429',
  async (path) => {
    const { send } = newApi();

    const responses = await Promise.all(
      Array.from({ length: 300 }, () => send('eve-token', { path })),
    );

    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(270);
  },
);

test('above the limit the response is 429 and no token of the address is verified', async () => {
  const { send, counts } = newApi();
  for (let sent = 0; sent < 30; sent++) await send('eve-token');

  const rejected = await send('eve-token');
  const valid = await send('ada-token', { path: V1 });

  expect(rejected.status).toBe(429);
  expect(rejected.headers.get('content-type')).toBe('application/problem+json');
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMITED' });
  expect(valid.status).toBe(429);
  expect(counts.verified).toBe(30);
});

test('both versions count invalid tokens together', async () => {
  const { send } = newApi({ limits: newLimits({ invalidTokens: 2 }) });

  const statuses = [];
  for (const path of [V1, V2, V1, V2]) statuses.push((await send('eve-token', { path })).status);

  expect(statuses).toEqual([401, 401, 429, 429]);
});

test('requests with a valid token or without one never count', async () => {
  const { send } = newApi({ limits: newLimits({ invalidTokens: 1 }) });

  const statuses = [];
  for (let sent = 0; sent < 5; sent++) {
    statuses.push((await send('ada-token')).status, (await send(undefined)).status);
  }
  const valid = await send('ada-token');

  expect(statuses).toEqual([200, 401, 200, 401, 200, 401, 200, 401, 200, 401]);
  expect(valid.headers.get('ratelimit-limit')).toBe('100');
  expect(valid.headers.get('ratelimit-remaining')).toBe('94');
  expect((await send('eve-token')).status).toBe(401);
});

test('clients are limited by address, those of IPv6 by /64', async () => {
  const { send } = newApi({ limits: newLimits({ invalidTokens: 1 }) });

  const statuses = [];
  for (const ip of ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']) {
    statuses.push((await send('eve-token', { ip })).status);
  }

  expect(statuses).toEqual([401, 401, 401, 429, 401]);
});

test('with Redis all replicas count invalid tokens together', async () => {
  const redis = await startRedisServer();
  onTestFinished(() => redis.stop());
  const newReplica = async () => {
    const { store, close } = await openLimitStore(redis.url);
    onTestFinished(close);
    return newApi({ limits: newLimits({ store, invalidTokens: 10 }) });
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
