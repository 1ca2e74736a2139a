import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { watchEventLoopLag } from './event-loop-lag.ts';
import { createServiceApp } from './service-app.ts';
import { shedLoad } from './shedding.ts';

const LIMITS = { maxInFlight: 2, maxEventLoopLagMs: 100 };

/** A service that errors may not be logged of, and whose requests wait for the gate. */
function newService() {
  const errors: string[] = [];
  const logger = { info() {}, warn() {}, error: (message: string) => void errors.push(message) };
  const metrics = createMetrics();
  const gate = Promise.withResolvers<void>();
  const app = createServiceApp({ logger, metrics, shedding: LIMITS });
  app.use(async (ctx) => {
    if (ctx.path === '/slow') await gate.promise;
    ctx.json({});
  });
  return { app, errors, gate, metrics };
}

test('requests above the maximum in flight get 503, and are served again below it', async () => {
  const { app, errors, gate, metrics } = newService();
  const slow = [request(app, '/slow'), request(app, '/slow')];
  await expect.poll(() => metrics.inFlight).toBe(2);

  const shed = await request(app, '/', { headers: { 'X-Request-Id': 'abc' } });
  gate.resolve();
  await Promise.all(slow);
  const served = await request(app, '/');

  expect(shed.status).toBe(503);
  expect(shed.headers.get('retry-after')).toBe('1');
  expect(shed.headers.get('content-type')).toBe('application/problem+json');
  expect(await shed.json()).toEqual({
    type: 'about:blank',
    title: 'Service Unavailable',
    status: 503,
    detail: 'Service Unavailable',
    code: 'SERVICE_UNAVAILABLE',
    requestId: 'abc',
  });
  expect(served.status).toBe(200);
  expect(errors).toEqual([]);
  expect(await metrics.register.metrics()).toContain(
    'http_requests_shed_total{reason="in_flight"} 1',
  );
});

test('requests get 503 while the event loop lag is above the maximum', async () => {
  const metrics = createMetrics();
  const lag = { lagMs: 101 };
  const app = createServiceApp({ metrics });
  app.use(shedLoad({ ...LIMITS, metrics, lag }), (ctx) => ctx.json({}));

  const shed = await request(app, '/');
  lag.lagMs = 100;
  const served = await request(app, '/');

  expect(shed.status).toBe(503);
  expect(served.status).toBe(200);
  expect(await metrics.register.metrics()).toContain(
    'http_requests_shed_total{reason="event_loop_lag"} 1',
  );
});

test('the lag of a busy event loop rises and falls again', async () => {
  const lag = watchEventLoopLag();
  const endMs = performance.now() + 1_000;

  while (lag.lagMs < 60 && performance.now() < endMs) {
    const turnEndsMs = performance.now() + 100;
    while (performance.now() < turnEndsMs);
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(lag.lagMs).toBeGreaterThanOrEqual(60);
  await expect.poll(() => lag.lagMs, { timeout: 10_000 }).toBeLessThan(60);
  lag.stop();
});
