import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { request } from '@fw/core/testing';
import { createRouter } from 'fw';
import { expect, onTestFinished, test } from 'vitest';
import { createServiceApp } from '../app/service-app.ts';
import { createServiceClient } from '../client/service-client.ts';
import type { RequestEntry } from '../logging/logging.ts';
import { startCollector } from '../testing/collector.ts';
import { createTracing } from './otlp.ts';
import type { Tracing } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** Starts a server that responds with `statusOf(path)` and records what it receives. */
async function startServer(statusOf: (path: string) => number) {
  const received: { path: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString();
    received.push({ path: req.url ?? '', headers: req.headers, body });
    res.writeHead(statusOf(req.url ?? ''), { 'Content-Type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function startTestCollector() {
  const collector = await startCollector();
  onTestFinished(collector.stop);
  return collector;
}

/** Creates a service that calls another one on behalf of each request. */
function newService(tracing: Tracing, otherUrl: string) {
  const entries: RequestEntry[] = [];
  const other = createServiceClient<{ '/figures': { get: { responses: object } } }>({
    name: 'users',
    baseUrl: otherUrl,
    retryDelayMs: 1,
  });
  const router = createRouter()
    .get('/reports/:id', async (ctx) => ctx.json((await other.get('/figures', { ctx })).data))
    .get('/plain', (ctx) => ctx.json({}));
  const logger = {
    info() {},
    warn() {},
    error() {},
    request: (entry: RequestEntry) => void entries.push(entry),
  };
  return { entries, app: createServiceApp({ logger, tracing }).route('/api', router) };
}

test('a request and its calls are spans of the trace of the client', async () => {
  const collector = await startTestCollector();
  const other = await startServer(() => 200);
  const tracing = createTracing({ service: 'reports', endpoint: collector.url });
  const { app, entries } = newService(tracing, other.url);

  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  await request(app, '/api/reports/7?secret=1', { headers });
  await tracing.close();

  const [call, served] = collector.spans();
  expect(served).toMatchObject({
    traceId: TRACE,
    parentSpanId: PARENT,
    name: 'GET /api/reports/:id',
    kind: 2,
  });
  expect(call).toMatchObject({
    traceId: TRACE,
    parentSpanId: served?.spanId,
    name: 'GET',
    kind: 3,
  });
  expect(other.received[0]?.headers.traceparent).toBe(`00-${TRACE}-${call?.spanId}-01`);
  expect(entries[0]?.traceId).toBe(TRACE);
  expect(served?.attributes).toEqual(
    expect.objectContaining({
      'http.request.method': 'GET',
      'http.route': '/api/reports/:id',
      'http.response.status_code': 200,
    }),
  );
  expect(JSON.stringify(collector.spans())).not.toContain('secret');
  expect(collector.spans().map(({ service }) => service)).toEqual(['reports', 'reports']);
});

test('a request without a valid trace starts one', async () => {
  const collector = await startTestCollector();
  const tracing = createTracing({ service: 'reports', endpoint: `${collector.url}/` });
  const { app, entries } = newService(tracing, 'http://127.0.0.1:1');

  await request(app, '/api/plain', { headers: { traceparent: `ff-${TRACE}-${PARENT}-01` } });
  await request(app, '/api/plain');
  await tracing.close();

  const traces = collector.spans().map(({ traceId }) => traceId);
  expect(new Set([...traces, TRACE]).size).toBe(3);
  expect(entries.map(({ traceId }) => traceId)).toEqual(traces);
  expect(collector.spans()[0]).not.toHaveProperty('parentSpanId');
});

test('a trace that the client does not sample is passed on and not exported', async () => {
  const collector = await startTestCollector();
  const other = await startServer(() => 200);
  const tracing = createTracing({ service: 'reports', endpoint: collector.url });
  const { app } = newService(tracing, other.url);

  await request(app, '/api/reports/7', { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
  await tracing.close();

  expect(other.received[0]?.headers.traceparent).toMatch(RegExp(`^00-${TRACE}-[\\da-f]{16}-00$`));
  expect(collector.spans()).toEqual([]);
});

test('failed calls and responses from 500 on are spans with an error', async () => {
  const collector = await startTestCollector();
  const tracing = createTracing({ service: 'reports', endpoint: collector.url });
  const { app } = newService(tracing, 'http://127.0.0.1:1');

  await request(app, '/api/reports/7');
  await request(app, '/nowhere');
  await tracing.close();

  const outcomes = collector.spans().map(({ kind, status }) => [kind, status.code]);
  expect(outcomes).toEqual([
    [3, 2],
    [3, 2],
    [2, 2],
    [2, 0],
  ]);
});

test('an unavailable collector affects neither requests nor the shutdown', async () => {
  const tracing = createTracing({ service: 'reports', endpoint: 'http://127.0.0.1:1' });
  const { app } = newService(tracing, 'http://127.0.0.1:1');

  const response = await request(app, '/api/plain');
  const closed = tracing.close();

  expect(response.status).toBe(200);
  await expect(closed).resolves.toBeUndefined();
});
