import { readJson, readNothing, readProblem, type Send } from '@fw/service/testing';
import { expect, test } from 'vitest';

const REPORTS = '/api/v1/reports';

/** Tests of version 1 for any system. Each test calls `newSystem`; a token is that of a new user. */
export function describeReportsV1(
  newSystem: () => { readonly send: Send; readonly newToken: () => string },
): void {
  function newClient() {
    const { send, newToken } = newSystem();
    const get = (authorization?: string) =>
      send('GET', REPORTS, undefined, authorization === undefined ? {} : { authorization });
    return { send, get, newToken };
  }

  test.each(['Bearer ', 'bearer ', 'BEARER   '])(
    'GET with a token after "%s" returns the reports',
    async (scheme) => {
      const { get, newToken } = newClient();

      const body = await readJson(await get(scheme + newToken()));

      const report = {
        id: expect.stringMatching(/^[a-z-]+$/),
        title: expect.stringMatching(/./),
        description: expect.stringMatching(/\.$/),
      };
      expect(body).toEqual({ reports: Array(5).fill(report) });
    },
  );

  test.each([undefined, 'Basic YWRhOmFkYQ==', 'Bearer nobody', 'Bearer '])(
    'GET with Authorization: %s responds with 401, before the limit of users',
    async (authorization) => {
      const response = await newClient().get(authorization);

      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
      // Invalid tokens have a separate limit per client address.
      expect(response.headers.get('ratelimit-limit')).not.toBe('100');
      await readProblem(response, 401, 'UNAUTHORIZED');
    },
  );

  test('HEAD requires the token', async () => {
    const { send, newToken } = newClient();
    const authorization = `Bearer ${newToken()}`;

    await readNothing(await send('HEAD', REPORTS), 401);
    await readNothing(await send('HEAD', REPORTS, undefined, { authorization }), 200);
  });

  test('a user gets 100 responses per minute, then 429; another user is not limited', async () => {
    const { get, newToken } = newClient();
    const token = `Bearer ${newToken()}`;
    const remaining = ({ headers }: Response) => Number(headers.get('ratelimit-remaining') ?? NaN);

    const first = await get(token);
    let response = await get(token);
    expect(first.headers.get('ratelimit-limit')).toBe('100');
    expect(remaining(first)).toBeLessThan(100);
    expect(remaining(response)).toBe(remaining(first) - 1);
    let accepted = 1;
    for (; response.status === 200 && accepted <= 100; accepted++) response = await get(token);

    expect(accepted).toBeLessThanOrEqual(100);
    expect(remaining(response)).toBe(0);
    for (const header of ['retry-after', 'ratelimit-reset']) {
      const seconds = Number(response.headers.get(header));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const { type } = await readProblem(response, 429, 'RATE_LIMITED');
    expect(type).toContain('quota-exceeded');
    await readJson(await get(`Bearer ${newToken()}`));
  });
}
