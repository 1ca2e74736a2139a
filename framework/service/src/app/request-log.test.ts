import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { websocket } from '@fw/middleware/websocket';
import { rateLimit } from '@fw/rate-limit';
import { createRouter, type Middleware } from 'fw';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

import type { RequestEntry } from '../logging/logging.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { recordLog } from '../testing/log.ts';
import { serve } from '../testing/vitest.ts';
import { createServiceApp } from './service-app.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LARGE_BYTES = 20_000_000;

/** A service on a port, its metrics, and the log entries of its requests and errors. */
async function start(
  handler: Middleware,
  { metrics = createMetrics(), writeTimeoutMs = 0, maxInFlight = 100 } = {},
) {
  const { requests: entries, errors, logger } = recordLog();
  const app = createServiceApp({ logger, metrics, shedding: { maxInFlight } }).use(handler);
  const { port } = await serve(app, { writeTimeoutMs });
  return { entries, errors, metrics, port };
}

/** A client that requests `/`, and reads the response only when it is resumed. */
function openStalledClient(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  socket.on('error', () => {}).write(GET);
  onTestFinished(() => void socket.destroy());
  return socket;
}

test('a response is in flight and not logged until the client has received it', async () => {
  const handled = Promise.withResolvers<void>();
  const { entries, metrics, port } = await start((ctx) => {
    ctx.send(Buffer.alloc(LARGE_BYTES));
    setImmediate(handled.resolve); // by then the response has been written
  });
  const client = openStalledClient(port);
  await handled.promise;
  const before = { inFlight: metrics.inFlight, entries: [...entries] };

  client.resume();
  await expect.poll(() => metrics.inFlight).toBe(0);

  expect(before).toEqual({ inFlight: 1, entries: [] });
  expect(entries).toMatchObject([{ status: 200 }]);
});

test('the line of a request has its duration in milliseconds, rounded to microseconds', async () => {
  const { entries, port } = await start(async (ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    ctx.send('done');
  });
  const startedMs = performance.now();

  await fetch(`http://127.0.0.1:${port}/`);
  await expect.poll(() => entries).toHaveLength(1);

  const { durationMs } = entries[0] as RequestEntry;
  expect(durationMs).toBeGreaterThanOrEqual(19); // a timer may be a millisecond early
  expect(durationMs).toBeLessThan(performance.now() - startedMs);
  expect(durationMs).toBe(Number(durationMs.toFixed(3)));
});

test('a client that resets its connection before it is counted is logged as 499, without an error', async () => {
  const metrics = createMetrics();
  const { entries, errors, port } = await start(metrics.countDecisions('requests', rateLimit()), {
    metrics,
  });
  const client = connect(port, '127.0.0.1').on('error', () => {});
  await once(client, 'connect');

  client.write(GET, () => client.resetAndDestroy());

  await expect.poll(() => entries).toMatchObject([{ status: 499 }]);
  expect(errors).toEqual([]);
  expect(await metrics.register.metrics()).toContain(
    'rate_limit_decisions_total{limit="requests",outcome="failed"} 0',
  );
});

test('responses that clients do not read count for load shedding, until they are disconnected', async () => {
  const { entries, metrics, port } = await start(
    (ctx) => ctx.send(ctx.path === '/' ? Buffer.alloc(LARGE_BYTES) : 'small'),
    { maxInFlight: 6, writeTimeoutMs: 3_000 },
  );
  const statusOf = async () => (await fetch(`http://127.0.0.1:${port}/small`)).status;
  for (let count = 0; count < 6; count++) openStalledClient(port);
  await expect.poll(() => metrics.inFlight).toBe(6);

  const during = await statusOf();
  await expect.poll(() => metrics.inFlight).toBe(0);

  expect(during).toBe(503);
  expect(await statusOf()).toBe(200);
  expect(entries.map(({ status }) => status)).toEqual([503, 499, 499, 499, 499, 499, 499, 200]);
});

describe('a WebSocket', () => {
  const route = websocket({ open: (client) => client.send(client.ctx.requestId) });

  test('has a log line at its start and one at its end, and is counted while it is open', async () => {
    const router = createRouter().get('/rooms/:id', route);
    const { entries, metrics, port } = await start(router.routes());
    const open = async () =>
      (await metrics.register.getSingleMetric('websockets_open')?.get())?.values;
    const client = new WebSocket(`ws://127.0.0.1:${port}/rooms/7`);
    const [message] = await once(client, 'message');

    const entry = { method: 'GET', route: '/rooms/:id', status: 101, requestId: String(message) };
    expect(entries).toEqual([expect.objectContaining(entry)]);
    expect(await open()).toEqual([{ labels: { http_route: '/rooms/:id' }, value: 1 }]);
    expect(metrics.inFlight).toBe(0);
    client.close(4_000);

    await expect.poll(() => entries).toHaveLength(2);
    expect(entries[1]).toMatchObject({ ...entry, closeCode: 4_000 });
    expect(entries[1]?.durationMs).toBeGreaterThanOrEqual(entries[0]?.durationMs ?? Infinity);
    expect(await open()).toEqual([{ labels: { http_route: '/rooms/:id' }, value: 0 }]);
  });

  test('is rejected during the drain, before the connections are closed', async () => {
    const app = createServiceApp({ drain: { isDraining: true } }).use(route);
    const { port } = await serve(app);

    const client = new WebSocket(`ws://127.0.0.1:${port}/`);

    const [, response] = await once(client, 'unexpected-response');
    expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  });
});
