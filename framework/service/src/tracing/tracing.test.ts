import { request } from '@fw/core/testing';
import { type Context, createRouter } from 'fw';
import { expect, onTestFinished, test, vi } from 'vitest';

import { startHttpServer } from '../../../middleware/src/testing/http-server.ts';
import { createServiceApp } from '../app/service-app.ts';
import { createServiceClient } from '../calls/service-client.ts';
import { startCollector } from '../testing/collector.ts';
import { recordLog } from '../testing/log.ts';
import { createTracing, type TracingOptions } from './otlp.ts';
import { readTraceparent } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** Starts a server that records the headers of its requests. */
async function startServer() {
  const received: NodeJS.Dict<string | string[]>[] = [];
  const { url } = await startHttpServer((req, res) => {
    received.push(req.headers);
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  return { received, url };
}

/** Starts a service with tracing that calls another one for each report; `finish` resolves with its spans. */
async function startService(otherUrl = 'http://127.0.0.1:1') {
  const collector = await startCollector();
  onTestFinished(collector.stop);
  const tracing = createTracing({ service: 'reports', endpoint: `${collector.url}/` });
  const other = createServiceClient<{ '/figures': { get: { responses: object } } }>({
    name: 'users',
    baseUrl: otherUrl,
    retryDelayMs: 1,
  });
  const router = createRouter()
    .get('/reports/:id', async (ctx) => ctx.json((await other.get('/figures', { ctx })).data))
    .get('/plain', (ctx) => {
      ctx.log.info('plain');
      ctx.json({});
    });
  const { requests: entries, entries: messages, logger } = recordLog();
  const app = createServiceApp({ logger, tracing }).route('/api', router);
  return {
    entries,
    messages,
    get: (path: string, traceparent?: string) =>
      request(app, path, { headers: traceparent === undefined ? {} : { traceparent } }),
    async finish() {
      await tracing.close();
      return collector.spans();
    },
    stopCollector: collector.stop,
  };
}

/** Begins the trace of a request without a service; `finish` resolves with the spans that have ended. */
async function beginTrace(options: Partial<TracingOptions> = {}, traceparent?: string) {
  const collector = await startCollector();
  onTestFinished(collector.stop);
  const tracing = createTracing({
    service: 'reports',
    endpoint: `${collector.url}//`,
    ...options,
  });
  const raw = { req: { socket: {} } };
  const ctx = { method: 'GET', path: '/', raw, get: () => traceparent };
  return {
    trace: tracing.begin(ctx as unknown as Context),
    async finish() {
      await tracing.close();
      return collector.spans();
    },
  };
}

test('a request and its calls are spans of the trace of the client', async () => {
  const other = await startServer();
  const { entries, get, finish } = await startService(other.url);

  await get('/api/reports/7?secret=1', `00-${TRACE}-${PARENT}-01`);
  const spans = await finish();

  const [call, served] = spans;
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
  expect(other.received[0]?.traceparent).toBe(`00-${TRACE}-${call?.spanId}-01`);
  expect(entries[0]?.traceId).toBe(TRACE);
  expect(served?.attributes).toEqual({
    'http.request.method': 'GET',
    'url.path': '/api/reports/7',
    'url.scheme': 'http',
    'http.route': '/api/reports/:id',
    'http.response.status_code': 200,
  });
  expect(call?.attributes).toEqual({
    'http.request.method': 'GET',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(other.url).port),
    'url.full': `${other.url}/figures`,
    'http.response.status_code': 200,
  });
  expect(JSON.stringify(spans)).not.toContain('secret');
  expect(spans.map(({ service }) => service)).toEqual(['reports', 'reports']);
});

test('a request without a valid trace starts one', async () => {
  const { entries, messages, get, finish } = await startService();

  await get('/api/plain', `ff-${TRACE}-${PARENT}-01`);
  await get('/api/plain');
  const spans = await finish();

  const traces = spans.map(({ traceId }) => traceId);
  expect(new Set([...traces, TRACE]).size).toBe(3);
  expect(entries.map(({ traceId }) => traceId)).toEqual(traces);
  expect(messages.map(({ fields }) => fields?.traceId)).toEqual(traces);
  expect(spans[0]).not.toHaveProperty('parentSpanId');
});

test('a span names its service, the version and the process, and has the attributes of the environment', async () => {
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'k8s.pod.name=a-1,deployment.environment.name=caf%C3%A9');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { trace, finish } = await beginTrace({ version: '1.2.0' });

  trace.end({ route: '', status: 200 });
  const [span] = await finish();

  expect(span?.resource).toMatchObject({
    'service.name': 'reports',
    'service.version': '1.2.0',
    'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
    'k8s.pod.name': 'a-1',
    'deployment.environment.name': 'café',
    'telemetry.sdk.language': 'nodejs',
  });
});

test('the environment replaces the name of the service and the id of the process', async () => {
  vi.stubEnv('OTEL_SERVICE_NAME', 'shop');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.name=other,service.instance.id=fw.a-1.reports');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { trace, finish } = await beginTrace();

  trace.end({ route: '', status: 200 });
  const [span] = await finish();

  expect(span?.resource).toMatchObject({
    'service.name': 'shop',
    'service.instance.id': 'fw.a-1.reports',
  });
});

test.each([
  ['always_on', 1, [true, true, true]],
  ['always_off', 1, [false, false, false]],
  ['traceidratio', 0, [false, false, false]],
  ['traceidratio', 1, [true, true, true]],
  ['parentbased_always_on', 0, [true, true, false]],
  ['parentbased_always_off', 1, [false, true, false]],
  ['parentbased_traceidratio', 0, [false, true, false]],
  ['parentbased_traceidratio', 1, [true, true, false]],
] as const)(
  'the sampler %s with %d traces: without traceparent, sampled, not sampled: %j',
  async (sampler, ratio, expected) => {
    const traceparents = [undefined, `00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-00`];
    const counts = traceparents.map(async (traceparent) => {
      const { trace, finish } = await beginTrace({ sampler, ratio }, traceparent);
      trace.end({ route: '', status: 200 });
      return (await finish()).length === 1;
    });

    expect(await Promise.all(counts)).toEqual(expected);
  },
);

test('a trace that the client does not sample is passed on and not exported', async () => {
  const other = await startServer();
  const { get, finish } = await startService(other.url);

  await get('/api/reports/7', `00-${TRACE}-${PARENT}-00`);
  const spans = await finish();

  expect(other.received[0]?.traceparent).toMatch(RegExp(`^00-${TRACE}-[\\da-f]{16}-00$`));
  expect(spans).toEqual([]);
});

test('failed calls and responses from 500 on are spans with an error', async () => {
  const { get, finish } = await startService();

  await get('/api/reports/7');
  await get('/nowhere');
  const spans = await finish();

  const outcomes = spans.map(({ kind, name, status, attributes }) => [
    kind,
    name,
    status.code,
    attributes['error.type'],
  ]);
  expect(outcomes).toEqual([
    [3, 'GET', 2, undefined],
    [3, 'GET', 2, undefined],
    [2, 'GET /api/reports/:id', 2, '503'],
    [2, 'GET', 0, undefined],
  ]);
  expect(spans.at(-1)?.attributes).not.toHaveProperty('http.route');
});

test.each([
  [399, 0, undefined],
  [400, 2, '400'],
  [503, 2, '503'],
])('a call with the status %i has the status %i of spans', async (status, code, type) => {
  const { trace, finish } = await beginTrace();

  trace.call({ method: 'GET', url: new URL('http://users/figures') }).end({ status });
  const [call] = await finish();

  expect(call).toMatchObject({ status: { code } });
  expect(call?.attributes['http.response.status_code']).toBe(status);
  expect(call?.attributes['error.type']).toBe(type);
});

test.each([
  ['http://users/figures', 'users', 80],
  ['https://users/figures', 'users', 443],
  ['https://10.0.0.7:8443/figures', '10.0.0.7', 8443],
])('a call of %s names %s and the port %i', async (url, address, port) => {
  const { trace, finish } = await beginTrace();

  trace.call({ method: 'PUT', url: new URL(url) }).end({ error: new Error('refused') });
  const [call] = await finish();

  expect(call).toMatchObject({
    name: 'PUT',
    status: { code: 2, message: 'Error: refused' },
    attributes: { 'server.address': address, 'server.port': port, 'url.full': url },
  });
});

test.each([
  [
    { namespace: 'app', host: 'db', port: 5432 },
    { 'db.namespace': 'app', 'server.address': 'db', 'server.port': 5432 },
  ],
  [{ namespace: '', host: '', port: 0 }, {}],
  [{}, {}],
])('a statement names only the known parts of its database: %j', async (database, expected) => {
  const { trace, finish } = await beginTrace();

  trace.beginStatement({
    database: { system: 'postgresql', ...database },
    text: 'SELECT 1',
    batchSize: 1,
  })(undefined);
  const [statement] = await finish();

  expect(statement?.name).toBe('SELECT');
  expect(statement?.attributes).toEqual({
    'db.system.name': 'postgresql',
    'db.operation.name': 'SELECT',
    'db.query.summary': 'SELECT',
    ...expected,
  });
});

test('an unavailable collector affects neither requests nor the shutdown', async () => {
  const { get, finish, stopCollector } = await startService();
  stopCollector();

  const response = await get('/api/plain');

  expect(response.status).toBe(200);
  await expect(finish()).resolves.toEqual([]);
});

test('traceparent is read', () => {
  const text = `00-${TRACE}-${PARENT}-01`;

  expect(readTraceparent(text)).toEqual({ traceId: TRACE, spanId: PARENT, flags: 1 });
});

test('a later version may have more fields', () => {
  expect(readTraceparent(`01-${TRACE}-${PARENT}-03-more`)).toMatchObject({ flags: 3 });
});

// W3C Trace Context §3.2.2
test.each([
  undefined,
  '',
  `00-${TRACE}-${PARENT}`,
  `00-${TRACE}-${PARENT}-01-more`,
  `00-${TRACE}-${PARENT}-01-`,
  `01-${TRACE}-${PARENT}-01more`,
  `ff-${TRACE}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-1`,
  ` 00-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
])('the invalid traceparent %j is ignored', (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});
