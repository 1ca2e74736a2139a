import { metadataOf } from '@fw/core/extension';
import { quiet, request } from '@fw/core/testing';
import { rateLimit } from '@fw/rate-limit';
import { createRouter, endpoint, HttpError, type Middleware, notFoundHandler } from 'fw';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createServiceApp } from '../app/service-app.ts';
import { createMetrics } from './metrics.ts';
import { MAX_CLIENTS } from './request-metrics.ts';

/** A service with metrics, and a function that reads them. */
function newService(...middleware: Middleware[]) {
  const metrics = createMetrics();
  const router = createRouter()
    .route('GET', '/users/:id', ...middleware, (ctx) => ctx.json({ id: ctx.params.id }))
    .post('/users', (ctx) => ctx.throw(409));
  const app = createServiceApp({ logger: quiet, metrics });
  app.route('/api', router);
  app.use(router.allowedMethods());
  app.use(notFoundHandler());
  const read = async (name: string) =>
    (await metrics.register.metrics()).split('\n').filter((line) => line.startsWith(name));
  /** The number of requests by method, route and status, and the type of their error. */
  const readCounts = async () =>
    (await read('http_server_request_duration_seconds_count')).map((line) =>
      [...line.matchAll(/="(.*?)"|(\d+)$/g)].map(([, label, count]) => label ?? count).join(' '),
    );
  return { app, metrics, read, readCounts };
}

test('requests are counted by method, scheme, route pattern and status; an error has a type, except 501', async () => {
  const { app, metrics, readCounts } = newService();

  await request(app, '/api/users/1');
  await request(app, '/api/users/2');
  await request(app, '/api/users/2', { method: 'HEAD' });
  await request(app, '/api/users', { method: 'POST' });
  for (const status of [501, 502]) {
    metrics.end({ method: 'POST', route: '/api/users', status, durationMs: 1 });
  }

  expect(await readCounts()).toEqual([
    'GET http /api/users/:id 500 500 0',
    'GET http /api/users/:id 503 503 0',
    'GET http /api/users/:id 200 2',
    'HEAD http /api/users/:id 500 500 0',
    'HEAD http /api/users/:id 503 503 0',
    'HEAD http /api/users/:id 200 1',
    'POST http /api/users 500 500 0',
    'POST http /api/users 503 503 0',
    'POST http /api/users 409 1',
    'POST http /api/users 501 1',
    'POST http /api/users 502 502 1',
  ]);
});

test('names and labels are those of the conventions of OpenTelemetry', async () => {
  const { app, metrics, readCounts, read } = newService();

  await request(app, '/api/users/1');
  metrics.end({ method: 'GET', route: '/tls', status: 200, durationMs: 1 }, 'https');

  expect(await readCounts()).toContain('GET https /tls 200 1');
  expect(await read('http_server_request_duration_seconds_count')).toContain(
    'http_server_request_duration_seconds_count{http_request_method="GET",url_scheme="http",http_route="/api/users/:id",http_response_status_code="200"} 1',
  );
  expect(await read('http_server_request_duration_seconds_count')).toContain(
    'http_server_request_duration_seconds_count{http_request_method="GET",url_scheme="http",http_route="/api/users/:id",http_response_status_code="500",error_type="500"} 0',
  );
});

test('counters of failures start at 0, so that the first failure has a rate', async () => {
  const { read } = newService();

  expect(await read('http_requests_shed_total')).toEqual([
    'http_requests_shed_total{reason="in_flight"} 0',
    'http_requests_shed_total{reason="queue_delay"} 0',
    'http_requests_shed_total{reason="client_left"} 0',
    'http_requests_shed_total{reason="body_memory"} 0',
  ]);
});

test('target_info contains the name and the version of the service, if there is one', async () => {
  const service = { name: 'users', version: '1.2.0' };
  const versioned = await createMetrics({ service }).register.metrics();
  const { read } = newService();

  expect(versioned).toMatch(/^target_info\{service_name="users",service_version="1\.2\.0"\} 1$/m);
  expect(await read('target_info')).toEqual([]);
});

test('unknown paths and methods share series', async () => {
  const { app, readCounts } = newService();

  await request(app, '/made-up');
  await request(app, '/made/up?too=1');
  await request(app, '/api/%ZZ');
  await request(app, '/api/users/1', { method: 'PROPFIND' });
  await request(app, '/api/users/1', { method: 'MKCOL' });
  await request(app, '*', { method: 'OPTIONS' });

  expect((await readCounts()).filter((line) => !line.endsWith(' 0'))).toEqual([
    'GET http  404 2',
    'GET http  400 1',
    '_OTHER http  501 2',
    'OPTIONS http  204 1',
  ]);
});

test('a reset of the registry clears requests and durations', async () => {
  const { metrics, read } = newService();
  metrics.end({ method: 'GET', route: '', status: 200, durationMs: 1 });

  metrics.register.resetMetrics();

  expect(await read('http_server_request_duration_seconds')).toEqual([]);
});

test('durations are a histogram in seconds', async () => {
  const { metrics, read } = newService();

  for (const durationMs of [0.5, 1, 30, 20_000]) {
    metrics.end({ method: 'GET', route: '', status: 200, durationMs });
  }

  const lines = await read('http_server_request_duration_seconds');
  const of = (labels: string) =>
    lines.find((line) => line.includes(labels) && line.includes('"200"'))?.split(' ')[1];
  expect(of('le="0.001"')).toBe('2');
  expect(of('le="0.025"')).toBe('2');
  expect(of('le="0.05"')).toBe('3');
  expect(of('le="10"')).toBe('3');
  expect(of('le="+Inf"')).toBe('4');
  expect(of('_count{')).toBe('4');
  expect(Number(of('_sum{'))).toBeCloseTo(20.0315);
});

test('the number of requests in flight decreases after responses and errors', async () => {
  const gate = Promise.withResolvers<void>();
  const { app, metrics, read } = newService(async (ctx, next) => {
    await gate.promise;
    if (ctx.params.id === 'bad') throw new Error('bad');
    await next();
  });

  const responses = Promise.all(['1', 'bad'].map((id) => request(app, `/api/users/${id}`)));
  await expect.poll(() => metrics.inFlight).toBe(2);
  const during = await read('http_server_active_requests');
  gate.resolve();
  await responses;

  expect(during).toEqual(['http_server_active_requests 2']);
  expect(metrics.inFlight).toBe(0);
});

test('decisions of a rate limit are counted by outcome, and its metadata is unchanged', async () => {
  const metrics = createMetrics();
  const limiter = rateLimit({ max: 2, window: '1m' });
  const counted = metrics.countDecisions('reports', limiter);
  const app = createServiceApp({ logger: quiet, metrics }).use(counted, (ctx) => ctx.json({}));

  for (let count = 1; count <= 3; count++) await request(app, '/');

  expect(metadataOf(counted)).toEqual(metadataOf(limiter));
  expect((await metrics.register.metrics()).match(/^rate_limit_decisions_total.*$/gm)).toEqual([
    'rate_limit_decisions_total{limit="reports",outcome="allowed"} 2',
    'rate_limit_decisions_total{limit="reports",outcome="refused"} 1',
    'rate_limit_decisions_total{limit="reports",outcome="local"} 0',
    'rate_limit_decisions_total{limit="reports",outcome="failed"} 0',
  ]);
});

/** Throws like an HTTP client whose server sent 429; such an error gets a 500 response. */
const throwForeign429: Middleware = () => {
  throw Object.assign(new Error('Too Many Requests'), { status: 429 });
};

/** A limiter whose store is unavailable. */
function withoutStore(limiter: Middleware): Middleware {
  return Object.assign(limiter, { isStoreAvailable: () => false });
}

test.each<readonly [string, Middleware, string]>([
  ['responds', (ctx) => ctx.json({}), 'refused'],
  ['responds later', async (ctx) => ctx.json({}), 'refused'],
  ['throws 429 later', async (ctx) => ctx.throw(429), 'refused'],
  ['fails', (ctx) => ctx.throw(503), 'failed'],
  ['fails later', async (ctx) => ctx.throw(503), 'failed'],
  ['fails with the 429 of another server', throwForeign429, 'failed'],
  ['allows without its store', withoutStore((_ctx, next) => next()), 'local'],
  ['refuses without its store', withoutStore((ctx) => ctx.throw(429)), 'local'],
  ['fails without its store', withoutStore((ctx) => ctx.throw(503)), 'failed'],
  ['calls next later', async (_ctx, next) => next(), 'allowed'],
  ['calls a next that fails', (_ctx, next) => next(), 'allowed'],
])('a rate limit that %s counts as one decision', async (_, limiter, outcome) => {
  const metrics = createMetrics();
  const app = createServiceApp({ logger: quiet, metrics });
  app.use(metrics.countDecisions('one', limiter), (ctx) => ctx.throw(500));

  await request(app, '/');

  const counts = (await metrics.register.metrics()).matchAll(/outcome="(\w+)"} (\d)/g);
  const nonZero = [...counts].filter(([, , count]) => count !== '0');
  expect(nonZero.map(([, name, count]) => [name, count])).toEqual([[outcome, '1']]);
});

test('reading the metrics again changes no counter', async () => {
  const metrics = createMetrics();
  metrics.end({ method: 'GET', route: '/users', status: 200, durationMs: 1 });
  metrics.countClient({ version: 'v1', path: '/api/v1', client: 'app' });
  const app = createServiceApp({ logger: quiet, metrics });
  app.use(metrics.countDecisions('users', rateLimit()), (ctx) => ctx.json({}));
  await request(app, '/');

  const first = await metrics.register.metrics();

  expect(first).toContain('api_requests_total{version="v1",path="/api/v1",client="app"} 1');
  expect(first).toContain('rate_limit_decisions_total{limit="users",outcome="allowed"} 1');
  expect(await metrics.register.metrics()).toBe(first);
});

test('the number of requests that wait is read with the metrics; without a queue it is 0', async () => {
  const { metrics, read } = newService();

  expect(await read('http_requests_queued')).toEqual(['http_requests_queued 0']);
  metrics.watchQueue(() => 7);
  expect(await read('http_requests_queued')).toEqual(['http_requests_queued 7']);
});

test.each([
  [0, 0, false],
  [9, 9, false],
  [10, 0, true],
  [0, 11, true],
])(
  'with %i and %i calls that wait for pools of 10, saturation is %s',
  (first, second, expected) => {
    const { metrics } = newService();
    metrics.watchPool('a', () => ({ max: 10, size: 10, idle: 0, waiting: first }));
    metrics.watchPool('b', () => ({ max: 10, size: 10, idle: 0, waiting: second }));

    expect(metrics.isSaturated).toBe(expected);
  },
);

test('the use of a pool is read with the metrics', async () => {
  const { metrics, read } = newService();
  let waiting = 0;
  metrics.watchPool('users', () => ({ max: 20, size: 10, idle: 3, waiting }));
  await metrics.register.metrics();
  waiting = 1;

  expect(await read('db_client_connection')).toEqual([
    'db_client_connection_count{db_client_connection_pool_name="users",db_client_connection_state="used"} 7',
    'db_client_connection_count{db_client_connection_pool_name="users",db_client_connection_state="idle"} 3',
    'db_client_connection_max{db_client_connection_pool_name="users"} 20',
    'db_client_connection_pending_requests{db_client_connection_pool_name="users"} 1',
  ]);
});

test('the metrics of the process are included if requested', async () => {
  const text = await createMetrics({ hasProcessMetrics: true }).register.metrics();

  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  expect(text).toMatch(/\n$/);
});

test('undeclared errors are counted by route pattern and code, at most 100 codes each', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const metrics = createMetrics();
  const app = createServiceApp({ logger: quiet, metrics });
  const router = createRouter().get('/:code', endpoint({ errors: { 409: 'TAKEN' } }), (ctx) => {
    throw new HttpError(409, 'No', { code: ctx.params.code });
  });
  app.route('/', router);

  await request(app, '/TAKEN');
  for (let at = 0; at < 103; at++) await request(app, `/CODE_${at}`);

  const lines = (await metrics.register.metrics()).split('\n');
  const counts = lines.filter((line) => line.startsWith('http_undeclared_errors_total'));
  expect(counts).toHaveLength(101);
  expect(counts[0]).toBe('http_undeclared_errors_total{http_route="/:code",code="CODE_0"} 1');
  expect(counts.at(-1)).toBe('http_undeclared_errors_total{http_route="/:code",code="other"} 3');
  expect(lines.filter((line) => line.startsWith('http_response_contract_v'))).toEqual([]);
});

test('responses that break their contract are counted by route pattern and status', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { app, read } = newService(
    endpoint({ responses: { 200: z.object({ name: z.string() }) } }),
  );

  await request(app, '/api/users/1');
  await request(app, '/api/users/2');

  expect(await read('http_response_contract_violations_total{')).toEqual([
    'http_response_contract_violations_total{http_route="/api/users/:id",http_response_status_code="200"} 2',
  ]);
});

test('10,000 clients have a bounded number of series, no request is lost, and a client keeps its series', async () => {
  const metrics = createMetrics();

  for (const version of ['v1', 'v2']) {
    const count = (client: string) =>
      metrics.countClient({ version, path: `/api/${version}`, client });
    for (let index = 0; index < 10_000; index++) count(`client-${index}`);
    count('client-0');
  }

  const metric = await metrics.register.getSingleMetric('api_requests_total')?.get();
  const values = metric?.values ?? [];
  const countsOf = (client: string) =>
    values.filter(({ labels }) => labels.client === client).map(({ value }) => value);
  expect(values).toHaveLength(2 * (MAX_CLIENTS + 1));
  expect(countsOf('other')).toEqual([10_000 - MAX_CLIENTS, 10_000 - MAX_CLIENTS]);
  expect(countsOf('client-0')).toEqual([2, 2]);
});
