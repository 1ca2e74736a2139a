import { request } from '@fw/core/testing';
import type { Middleware } from 'fw';
import { expect, test } from 'vitest';

import { newApp, newLimits } from './testing/app.ts';

const REPORTS = '/api/v1/reports';

/** Creates a function that sends requests to version 1, where "ada-token" is a valid token. */
function newApi(limiter?: Middleware) {
  const app = newApp({ limits: { ...newLimits(), ...(limiter && { v1: limiter }) } });
  return (authorization?: string, method = 'GET') =>
    request(app, REPORTS, {
      method,
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });
}

test.each(['Bearer ada-token', 'bearer ada-token', 'BEARER   ada-token'])(
  'GET with Authorization %j returns the reports',
  async (authorization) => {
    const response = await newApi()(authorization);

    expect(response.status).toBe(200);
    const report = {
      id: expect.stringMatching(/^[a-z-]+$/),
      title: expect.stringMatching(/./),
      description: expect.stringMatching(/\.$/),
    };
    expect(await response.json()).toEqual({ reports: [report, report, report, report, report] });
  },
);

test('GET without a token responds with 401 and a WWW-Authenticate challenge', async () => {
  const response = await newApi()();

  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({
    status: 401,
    code: 'UNAUTHORIZED',
    detail: 'a bearer token is required',
  });
});

test.each([
  'Bearer eve-token',
  'Bearer',
  'Bearer ',
  'Bearer ada-token eve',
  'Bearer ada-token,',
  'Bearerada-token',
  'Basic ada-token',
  'ada-token',
  '',
])('GET with Authorization %j responds with 401', async (authorization) => {
  const response = await newApi()(authorization);

  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  const text = await response.text();
  expect(text).not.toContain('eve');
  expect(text).not.toContain('reports"');
});

test('the limiter runs after authentication and uses the user as key', async () => {
  const seen: unknown[] = [];
  const get = newApi((ctx, next) => {
    seen.push(ctx.state.user);
    ctx.set('RateLimit-Remaining', '99');
    return next();
  });

  const rejected = await get('Bearer eve-token');
  const accepted = await get('Bearer ada-token');

  expect(seen).toEqual([{ id: 'ada', tier: 'free' }]);
  expect(rejected.headers.get('ratelimit-remaining')).toBe('29'); // of invalid tokens
  expect(accepted.headers.get('ratelimit-remaining')).toBe('99');
});

test('one user may send 100 requests per minute, independent of other users', async () => {
  const app = newApp();
  const get = (name: string) =>
    request(app, REPORTS, { headers: { Authorization: `Bearer ${name}-pro-token` } });

  const first = await get('ada');
  for (let count = 2; count <= 100; count++) await get('ada');
  const rejected = await get('ada');
  const other = await get('grace');

  expect(first.headers.get('ratelimit-remaining')).toBe('99');
  expect(rejected.status).toBe(429);
  expect(rejected.headers.get('content-type')).toBe('application/problem+json');
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMITED' });
  expect(other.headers.get('ratelimit-remaining')).toBe('99');
});

test('a limiter that does not call next() prevents the response', async () => {
  const get = newApi((ctx) => ctx.throw(429));

  const response = await get('Bearer ada-token');

  expect(response.status).toBe(429);
  expect(await response.text()).not.toContain('users-by-day');
});

test('any other method responds with 405 and Allow', async () => {
  const response = await newApi()('Bearer ada-token', 'POST');

  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD');
});

test.each(['Bearer ada-token', 'Bearer eve-token'])(
  'the response of version 1 to %s has Deprecation and a Link to version 2',
  async (auth) => {
    const response = await newApi()(auth);

    expect(response.headers.get('deprecation')).toBe('@1796083200');
    expect(response.headers.get('link')).toBe('</api/v2/reports>; rel="successor-version"');
  },
);
