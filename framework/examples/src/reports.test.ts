import { expect, onTestFinished, test } from 'vitest';

import { startExample } from './testing.ts';

async function start() {
  const { origin, stop } = await startExample('reports');
  onTestFinished(stop);
  return {
    /** Requests all reports with a token. */
    get: (token?: string) =>
      fetch(`${origin}/api/reports`, {
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      }),
    getPublic: () => fetch(`${origin}/api/reports/public`),
  };
}

function remaining(response: Response): string | null {
  return response.headers.get('ratelimit-remaining');
}

test('GET /api/reports sends the reports and RateLimit-Remaining', async () => {
  const { get } = await start();

  const response = await get('ada-token');

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    reports: [
      expect.objectContaining({ id: 'revenue' }),
      expect.objectContaining({ id: 'signups' }),
    ],
  });
  expect(response.headers.get('ratelimit-limit')).toBe('100');
  expect(remaining(response)).toBe('99');
  expect(remaining(await get('ada-token'))).toBe('98');
});

test.each([undefined, 'unknown', ''])(
  'GET /api/reports with the token %j is 401 before it is limited',
  async (token) => {
    const { get } = await start();

    const response = await get(token);

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(remaining(response)).toBeNull();
    expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
  },
);

test('each user has 100 requests a minute, and the 101st gets 429', async () => {
  const { get, getPublic } = await start();

  const first = await Promise.all(Array.from({ length: 100 }, () => get('ada-token')));
  const over = await get('ada-token');
  const bob = await get('bob-token');
  const anonymous = await getPublic();

  expect(first.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(new Set(first.map(remaining)).size).toBe(100);
  expect(over.status).toBe(429);
  expect(remaining(over)).toBe('0');
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(over.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(await over.json()).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect([bob.status, remaining(bob)]).toEqual([200, '99']);
  expect([anonymous.status, remaining(anonymous)]).toEqual([200, '99']);
});

test('requests without a token are counted by address', async () => {
  const { get, getPublic } = await start();
  await get('ada-token');

  const one = await getPublic();
  const other = await getPublic();

  expect([remaining(one), remaining(other)]).toEqual(['99', '98']);
});
