import { request } from '@fw/core/testing';
import type { Logger } from 'fw';
import { expect, test } from 'vitest';
import { type Check, createHealth } from './health.ts';

/** Health that has begun with `checks`; without any it is still starting. */
function newHealth(checks?: Readonly<Record<string, Check>>) {
  const warnings: string[] = [];
  const logger: Logger = { info: () => {}, warn: (text) => warnings.push(text), error: () => {} };
  const drain = { isDraining: false };
  const metrics = { contentType: 'text/plain; version=0.0.4', metrics: async () => 'up 1\n' };
  const { app, begin } = createHealth({ drain, logger, metrics, checkTimeoutMs: 50 });
  if (checks) begin(checks);
  return { app, drain, warnings };
}

test('/livez, /startupz and /readyz respond with 200 while every check passes', async () => {
  const { app } = newHealth({ store: async () => {} });

  expect((await request(app, '/livez')).status).toBe(200);
  expect((await request(app, '/startupz')).status).toBe(200);
  expect((await request(app, '/readyz', { method: 'HEAD' })).status).toBe(200);
  const ready = await request(app, '/readyz');
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ status: 'ready', checks: { store: 'ok' } });
});

test('a starting service is live, and neither started nor ready', async () => {
  const { app } = newHealth();

  expect((await request(app, '/livez')).status).toBe(200);
  expect((await request(app, '/startupz')).status).toBe(503);
  expect((await request(app, '/readyz')).status).toBe(503);
});

test('/readyz responds with 503 and the name of a failed check; only the log has the reason', async () => {
  const { app, warnings } = newHealth({
    store: async () => {},
    cache: async () => {
      throw new Error('no route to 10.0.0.7');
    },
  });

  const response = await request(app, '/readyz');

  expect(response.status).toBe(503);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = await response.json();
  expect(problem).toMatchObject({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    checks: { store: 'ok', cache: 'failed' },
  });
  expect(JSON.stringify(problem)).not.toContain('10.0.0.7');
  expect(warnings).toEqual(['Check "cache" failed: no route to 10.0.0.7']);
  expect((await request(app, '/livez')).status).toBe(200);
  expect((await request(app, '/startupz')).status).toBe(200);
});

test('/readyz does not wait for a check that hangs', async () => {
  const { app, warnings } = newHealth({ store: () => new Promise(() => {}) });

  expect((await request(app, '/readyz')).status).toBe(503);
  expect(warnings).toEqual(['Check "store" failed: no result within 50 ms']);
});

test('draining fails /readyz, but not /livez and /startupz', async () => {
  const { app, drain } = newHealth({});

  drain.isDraining = true;

  expect((await request(app, '/readyz')).status).toBe(503);
  expect((await request(app, '/livez')).status).toBe(200);
  expect((await request(app, '/startupz')).status).toBe(200);
});

test('/metrics responds with the media type of the metrics, also during the start', async () => {
  const { app } = newHealth();

  const response = await request(app, '/metrics');

  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4');
  expect(await response.text()).toBe('up 1\n');
});

test.each(['/livez', '/startupz', '/readyz', '/metrics'])(
  '%s has Cache-Control: no-store',
  async (path) => {
    const { app } = newHealth({});

    expect((await request(app, path)).headers.get('cache-control')).toBe('no-store');
  },
);

test('any other path gets 404, and any other method 405', async () => {
  const { app } = newHealth({});

  expect((await request(app, '/')).status).toBe(404);
  expect((await request(app, '/livez', { method: 'POST' })).status).toBe(405);
});

test.each(['/livez', '/readyz', '/', '/%ZZ'])(
  'the response to %s has the request id',
  async (path) => {
    const { app } = newHealth();

    const response = await request(app, path, { headers: { 'X-Request-Id': 'abc' } });

    expect(response.headers.get('x-request-id')).toBe('abc');
  },
);
