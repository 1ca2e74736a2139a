import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runToEnd, type Variables } from '@fw/service/testing';
import { newFolder, startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startHttpServer } from '../../../framework/middleware/src/testing/http-server.ts';
import {
  AUDIENCE,
  claimsOf,
  ISSUER,
  SECRET,
  sign,
} from '../../../framework/middleware/src/testing/tokens.ts';
import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { USERS } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);
const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };

function start(variables: Variables) {
  return startTestService(MAIN, { DRAIN_DELAY_MS: '0', DRAIN_IDLE_MS: '0', ...JWT, ...variables });
}

function get(url: string, token: string, path = '/api/v1/reports'): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
}

test('the service starts and is ready while Redis and the URL of the keys are unavailable', async () => {
  const service = await start({
    JWT_JWKS_URL: 'http://127.0.0.1:1/keys',
    JWT_ALGORITHM: 'ES256',
    REDIS_URL: 'redis://127.0.0.1:1',
  });

  expect((await fetch(`${service.healthUrl}/readyz`)).status).toBe(200);
  expect((await get(service.url, await sign())).status).toBe(401);

  service.signal('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
});

test('processes with one Redis share the limit of a user; without it the metrics count local decisions', async () => {
  const redis = await startRedisServer();
  onTestFinished(() => redis.stop());
  const variables = { JWT_SECRET: SECRET, REDIS_URL: redis.url, RATE_LIMIT_PRO: '5000' };
  const [first, second] = await Promise.all([start(variables), start(variables)]);
  const token = await sign();
  const leftAt = async ({ url }: { url: string }) =>
    Number((await get(url, token, '/api/v2/reports')).headers.get('ratelimit-remaining'));
  const localDecisions = async () => {
    const text = await (await fetch(`${first.healthUrl}/metrics`)).text();
    return Number(/limit="reports-v1",outcome="local"\S* (\d+)/.exec(text)?.[1]);
  };

  // Until both are connected to Redis, each counts alone.
  await vi.waitFor(async () => {
    const left = await leftAt(first);
    expect([await leftAt(second), await leftAt(first)]).toEqual([left - 1, left - 2]);
  }, 60_000);
  const before = await localDecisions();
  await redis.signal('SIGKILL');

  expect((await get(first.url, token)).status).toBe(200);
  expect(await localDecisions()).toBe(before + 1);
});

test('figures come from USERS_URL and CATALOG_URL; the report names missing sources', async () => {
  const callers: unknown[] = [];
  const users = await startHttpServer((req, res) => {
    callers.push(req.headers['user-agent']);
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ data: USERS }));
  });
  const { url } = await start({
    JWT_SECRET: SECRET,
    USERS_URL: users.url,
    CATALOG_URL: 'http://127.0.0.1:1',
  });

  const response = await get(url, await sign(), '/api/v2/reports/overview');

  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ meta: { partial: true, missing: ['catalog'] } });
  expect(callers).toEqual(['fw-reports']);
});

test('a changed file of the secret is used without a restart; tokens of the previous secret are invalid', async () => {
  const file = join(newFolder(), 'JWT_SECRET');
  writeFileSync(file, SECRET);
  const next = 'another secret of at least 32 bytes, made for tests';
  const service = await start({ JWT_SECRET_FILE: file });
  const ours = await sign();
  const theirs = await sign(claimsOf(), { key: new TextEncoder().encode(next) });
  const statuses = async () => [
    (await get(service.url, ours)).status,
    (await get(service.url, theirs)).status,
  ];
  const before = await statuses();

  writeFileSync(file, next);

  expect(before).toEqual([200, 401]);
  await vi.waitFor(async () => expect(await statuses()).toEqual([401, 200]), {
    timeout: 20_000,
    interval: 500, // 30 invalid tokens would block the address
  });
});

test('log and metrics contain the user and the route of a request, and never its token', async () => {
  const service = await start({ JWT_SECRET: SECRET });
  const token = await sign();

  expect((await get(service.url, await sign(claimsOf({ aud: 'users' })))).status).toBe(401);
  expect((await get(service.url, token)).status).toBe(200);
  const metrics = await (await fetch(`${service.healthUrl}/metrics`)).text();
  service.signal('SIGTERM');
  const { stdout } = await service.ended;

  const lines = stdout.split('\n').filter((text) => text.includes('/api/v1/reports'));
  expect(JSON.parse(lines.at(-1) ?? '{}')).toMatchObject({ userId: 'ada', status: 200 });
  expect(stdout).not.toContain(token.slice(0, 20));
  expect(metrics).toMatch(/rate_limit_decisions_total\{[^}]*reports-v1/);
});

test.for([
  [{}, 'JWT_SECRET is missing: expected it, JWT_SECRET_FILE or JWT_JWKS_URL'],
  [{ JWT_SECRET: 'a secret of 24 bytes' }, 'JWT_SECRET must have at least 32 bytes'],
] as const)('with %j the service prints the problem in one line', async ([variables, reason]) => {
  const ending = await runToEnd(MAIN, { PORT: '0', HEALTH_PORT: '0', ...variables });

  expect(ending.code).toBe(1);
  expect(ending.stderr).toMatch(/^Cannot run reports: [^\n]+\n$/);
  expect(ending.stderr).toContain(reason);
  expect(ending.stderr).not.toContain('a secret');
});
