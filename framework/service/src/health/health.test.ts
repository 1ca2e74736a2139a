import { setImmediate } from 'node:timers/promises';
import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { recordLog } from '../testing/log.ts';
import { type Check, createCheckRunner, createHealth } from './health.ts';

/** Health that has begun with `checks`; without any it is still starting. */
function newHealth(checks?: Readonly<Record<string, Check>>) {
  const { lines: warnings, logger } = recordLog();
  const drain = { isDraining: false };
  const metrics = createMetrics();
  const { app, begin } = createHealth({ drain, logger, metrics });
  if (checks) begin(checks);
  return { app, drain, warnings };
}

test('/livez, /startupz and /readyz respond with 200 once every check has passed', async () => {
  const { app } = newHealth({ store: async () => {} });

  expect(await (await request(app, '/livez')).json()).toEqual({ status: 'live' });
  expect(await (await request(app, '/startupz')).json()).toEqual({ status: 'started' });
  expect((await request(app, '/readyz', { method: 'HEAD' })).status).toBe(200);
  const ready = await request(app, '/readyz');
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ status: 'ready' });
});

test('a service whose check fails has not started; only the log has the reason', async () => {
  const { app, warnings } = newHealth({
    store: async () => {},
    cache: async () => {
      throw new Error('no route to 10.0.0.7');
    },
  });

  const response = await request(app, '/startupz');

  expect(response.status).toBe(503);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = await response.json();
  expect(problem).toMatchObject({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    detail: 'The service is starting',
    checks: { store: 'ok', cache: 'failed' },
  });
  expect(JSON.stringify(problem)).not.toContain('10.0.0.7');
  expect(warnings).toEqual(['Check "cache" failed: no route to 10.0.0.7']);
  expect((await request(app, '/readyz')).status).toBe(503);
  expect((await request(app, '/livez')).status).toBe(200);
});

test('a check that fails after the start changes the metric, and no probe', async () => {
  let isAvailable = true;
  const { app } = newHealth({
    store: async () => {
      if (!isAvailable) throw new Error('unavailable');
    },
  });
  const metric = async () =>
    /^service_check_passes.*$/m.exec(await (await request(app, '/metrics')).text())?.[0];
  await request(app, '/startupz');

  const before = await metric();
  isAvailable = false;
  const during = await metric();
  const probes = await Promise.all(
    ['/livez', '/startupz', '/readyz'].map(async (path) => (await request(app, path)).status),
  );
  isAvailable = true;

  expect(before).toBe('service_check_passes{check="store"} 1');
  expect(during).toBe('service_check_passes{check="store"} 0');
  expect(probes).toEqual([200, 200, 200]);
  expect(await metric()).toBe(before);
});

test('draining fails /readyz, but not /livez and /startupz', async () => {
  const { app, drain } = newHealth({});
  await request(app, '/startupz');

  drain.isDraining = true;

  expect(await (await request(app, '/readyz')).json()).toMatchObject({
    status: 503,
    detail: 'The service is draining',
  });
  expect((await request(app, '/livez')).status).toBe(200);
  expect((await request(app, '/startupz')).status).toBe(200);
});

test('a starting service is live and has metrics, and is neither started nor ready', async () => {
  const { app } = newHealth();

  const response = await request(app, '/metrics');

  expect((await request(app, '/livez')).status).toBe(200);
  for (const path of ['/startupz', '/readyz']) {
    expect(await (await request(app, path)).json()).toMatchObject({
      status: 503,
      detail: 'The service is starting',
    });
  }
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(await response.text()).toContain('http_server_active_requests 0\n');
});

test('the log names health in each line', async () => {
  const { lines, entries, logger } = recordLog();
  const metrics = createMetrics();
  metrics.register.metrics = () => Promise.reject(new Error('broken'));
  const { app } = createHealth({ drain: { isDraining: false }, logger, metrics });

  expect((await request(app, '/metrics', { headers: { 'X-Request-Id': 'abc' } })).status).toBe(500);
  app.logger.info('a');
  app.logger.warn('b');

  expect(lines).toEqual(['Health: GET /metrics failed with 500', 'Health: a', 'Health: b']);
  expect(entries[0]).toMatchObject({ error: { message: 'broken' }, fields: { requestId: 'abc' } });
});

test('any other path gets 404, and any other method 405', async () => {
  const { app } = newHealth({});

  expect((await request(app, '/')).status).toBe(404);
  expect((await request(app, '/livez', { method: 'POST' })).status).toBe(405);
});

test.each(['/livez', '/readyz', '/metrics', '/', '/%ZZ'])(
  'the response to %s has the request id and Cache-Control: no-store',
  async (path) => {
    const { app } = newHealth();

    const { headers } = await request(app, path, { headers: { 'X-Request-Id': 'abc' } });

    expect(headers.get('x-request-id')).toBe('abc');
    expect(headers.get('cache-control')).toBe('no-store');
  },
);

/** Creates a runner of `check`; `counts` has the number of runs, `lines` the log messages. */
function newRunner(check: Check, timeoutMs = 10_000) {
  const { lines, logger } = recordLog();
  const counts = { started: 0 };
  const counted = () => {
    counts.started++;
    return check();
  };
  return { run: createCheckRunner('store', counted, { logger, timeoutMs }), counts, lines };
}

test('concurrent callers share one run of a check', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { run, counts } = newRunner(() => promise);

  const outcomes = Promise.all(Array.from({ length: 50 }, run));
  resolve();

  expect(new Set(await outcomes)).toEqual(new Set(['ok']));
  expect(counts.started).toBe(1);
});

test('the log has the first failure of a check, its reason, and the recovery', async () => {
  const reasons = ['gone', 'gone', 'thrown', undefined, undefined, undefined];
  let at = 0;
  const { run, lines } = newRunner(() => {
    const reason = reasons[at++];
    if (reason === 'thrown') throw new Error(reason);
    return reason ? Promise.reject(new Error(reason)) : Promise.resolve();
  });

  for (const _ of reasons) await run();

  expect(lines).toEqual([
    'Check "store" failed: gone',
    'Check "store" failed: thrown',
    'Check "store" passes again',
  ]);
});

test('a check that hangs fails, is not started again, and passes once it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { run, counts, lines } = newRunner(() => promise, 30);

  const first = await run();
  const later = await Promise.race([Promise.all([run(), run()]), setImmediate('waited')]);

  expect(first).toBe('failed');
  expect(later).toEqual(['failed', 'failed']);
  expect(counts.started).toBe(1);
  expect(lines).toEqual(['Check "store" failed: no result within 30 ms']);

  resolve();
  await expect.poll(run).toBe('ok');
});

test('a check that never ends is abandoned, so that a recovery is noticed', async () => {
  let isStuck = true;
  const { run } = newRunner(() => (isStuck ? new Promise(() => {}) : Promise.resolve()), 5);

  expect(await run()).toBe('failed');
  isStuck = false;

  await expect.poll(run).toBe('ok');
});
