import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureTool } from '../../tools/programs.ts';
import { planEdgeExporter } from '../local/observe/edge-exporter.ts';
import { edgeLimitsOf } from '../local/processes/edge.ts';
import { freePort, listenAnywhere } from '../local/testing/ports.ts';
import { startProgram } from '../local/testing/program.ts';
import { startTrialEdge, type TrialEdge } from '../local/testing/trial-edge.ts';

// tests/api and tests/hostile send requests through the edge to the real services. The replicas here respond
// as a test needs.
type Respond = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

/** Responds with the request, so that a test sees what the edge forwarded. */
const echo: Respond = ({ method, url, headers }, response, { length }) =>
  void response.end(JSON.stringify({ method, url, headers, bytes: length }));

/** Receives the request and fails before it responds. */
const die: Respond = (request) => void request.socket.destroy();

const servers: http.Server[] = [];

/** Starts a replica of a service; `received` are the methods of the requests, in their order. */
async function startReplica(respond: Respond) {
  const received: (string | undefined)[] = [];
  const server = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('latin1');
    received.push(request.method);
    respond(request, response, body);
  });
  servers.push(server);
  return { port: await listenAnywhere(server), server, received };
}

/** Starts an edge in front of these replicas of users; returns its address. */
async function startEdge(users: readonly number[], limits: readonly string[] = []) {
  const own = await startTrialEdge({ users }, { limits });
  onTestFinished(() => own.stop());
  return own.origin;
}

/** Starts an edge with this settings.conf, in front of a replica that responds with the request. */
async function startEdgeWith(settings: string) {
  const { port } = await startReplica(echo);
  const prepare = (prefix: string) =>
    fs.writeFileSync(path.join(prefix, 'settings.conf'), settings);
  const own = await startTrialEdge({ users: [port] }, { prepare });
  onTestFinished(() => own.stop());
  return own;
}

/** The defaults. */
const SETTINGS = fs.readFileSync(path.join(import.meta.dirname, 'settings.conf'), 'utf8');

let edge: TrialEdge;
beforeAll(async () => {
  const { port } = await startReplica(echo);
  edge = await startTrialEdge({ users: [port], catalog: [port], reports: [await freePort()] });
});
afterAll(async () => {
  await edge.stop();
  for (const server of servers) server.close();
});

/** Sends the target unchanged; `fetch` would normalise it. */
async function send(target: string, options: http.RequestOptions = {}) {
  const { hostname, port } = new URL(edge.origin);
  const request = http.request({ hostname, port, path: target, agent: false, ...options }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, text };
}

/** The entry of a request in the access log. */
async function logged(id: string, { log } = edge) {
  const line = () => log().match(`.*"requestId":"${id}".*`)?.[0];
  await expect.poll(line).toBeDefined();
  return JSON.parse(line() ?? '');
}

test('the files of this folder are a valid configuration as they are', () => {
  const prefix = newFolder('fw-edge-');
  fs.cpSync(import.meta.dirname, prefix, { recursive: true });

  const args = ['-t', '-q', '-e', 'stderr', '-p', prefix, '-c', 'nginx.conf'];
  // nginx opens its standard output by name, which a pipe of Node's does not allow.
  const { status, stderr } = spawnSync(ensureTool('nginx'), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
  });

  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
});

test.each([
  '/api/v2/catalog/7?x=1',
  '/docs/users/openapi.json',
  '/api/v1/%75sers/a+b%20c?q=%41+%zz',
  '/api/v1/users//7/./8',
  '/api/v1/catalog/../users/a%2Fb%252Fc',
])('%s reaches its service exactly as sent', async (target) => {
  expect(JSON.parse((await send(target)).text).url).toBe(target);
});

test.each([
  ['GET', '/../api/v1/users', 400, 'BAD_REQUEST'],
  ['GET', '/page/../upstreams.conf', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/users%0A', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/users_critical/7', 404, 'NOT_FOUND'],
  ['POST', '/page/page.css', 405, 'METHOD_NOT_ALLOWED'],
  ['TRACE', '/api/v1/users', 405, 'METHOD_NOT_ALLOWED'],
  ['PUT', '/api/v2/reports/x.html', 502, 'BAD_GATEWAY'],
])('%s %s gets %i and a problem', async (method, target, status, code) => {
  const response = await send(target, { method });

  expect(response).toMatchObject({
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  });
  expect(response.headers.allow).toBe(target === '/page/page.css' ? 'GET, HEAD' : undefined);
  expect(response.headers['retry-after']).toBe(status === 502 ? '1' : undefined);
  const problem = JSON.parse(response.text);
  expect(problem).toMatchObject({ type: 'about:blank', status, code, detail: problem.title });
  expect(problem.requestId).toBe(response.headers['x-request-id']);
});

test('the ETag of the page depends neither on the replica nor on the time of its files', async () => {
  const other = await startTrialEdge({});
  onTestFinished(() => other.stop());
  fs.utimesSync(path.join(other.plan.cwd, 'page/index.html'), new Date(0), new Date(0));
  const { etag } = (await send('/')).headers;

  expect((await send('/', { port: new URL(other.origin).port })).headers.etag).toBe(etag);
  const known = { 'if-none-match': `"other", W/${etag}` };
  expect((await send('/', { headers: known })).status).toBe(304);
});

test('the edge replaces the forwarding headers of the client', async () => {
  const sent = {
    host: 'shop.example:8080',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'for=203.0.113.9',
  };

  const { headers } = JSON.parse((await send('/api/v2/users', { headers: sent })).text);

  expect(headers).toMatchObject({
    host: sent.host,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': sent.host,
    'x-forwarded-proto': 'http',
  });
  expect(headers).not.toHaveProperty('forwarded');
});

test.each([
  ['203.0.113.9', 'https', '203.0.113.9', 'https'],
  ['198.51.100.1, 203.0.113.9, 127.0.0.1', 'http', '203.0.113.9', 'http'],
  ['203.0.113.9', 'https, http', '203.0.113.9', 'http'],
  ['', 'https', '127.0.0.1', 'http'],
])(
  'a trusted proxy with X-Forwarded-For "%s" and -Proto %s: %s, %s',
  async (from, proto, ...expected) => {
    const own = await startEdgeWith(
      SETTINGS.replace(/^# set_real_ip_from .*;/m, 'set_real_ip_from 127.0.0.1;'),
    );
    const id = crypto.randomUUID();
    const sent = { 'x-forwarded-for': from, 'x-forwarded-proto': proto, 'x-request-id': id };

    const response = await fetch(`${own.origin}/api/v2/users`, { headers: sent });

    const { headers } = (await response.json()) as { headers: http.IncomingHttpHeaders };
    expect([headers['x-forwarded-for'], headers['x-forwarded-proto']]).toEqual(expected);
    expect((await logged(id, own)).client).toBe(expected[0]);
  },
);

test.each([
  ['GET', 'websocket', { upgrade: 'websocket', connection: 'upgrade' }],
  ['GET', 'WebSocket', { upgrade: 'websocket', connection: 'upgrade' }],
  ['GET', 'websocket, h2c', {}],
  ['GET', 'h2c', {}],
  ['POST', 'websocket', {}],
])('%s with Upgrade: %s is forwarded with %j', async (method, upgrade, expected) => {
  const sent = { upgrade, connection: 'Upgrade' };

  const { headers } = JSON.parse((await send('/api/v2/users', { method, headers: sent })).text);

  const { upgrade: forwarded, connection } = headers;
  expect({ upgrade: forwarded, connection }).toEqual({
    upgrade: undefined,
    connection: undefined,
    ...expected,
  });
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

// W3C Trace Context §3.2.2 and §3.3
test.each([
  [`00-${TRACE}-${PARENT}-00`, true],
  [`01-${TRACE}-${PARENT}-03-more`, true],
  ['', false],
  [`ff-${TRACE}-${PARENT}-01`, false],
  [`00-${TRACE.toUpperCase()}-${PARENT}-01`, false],
])('of the traceparent "%s", the edge keeps it: %s', async (traceparent, isKept) => {
  const id = crypto.randomUUID();
  const sent = { 'x-request-id': id, traceparent, tracestate: 'a=1' };

  const { headers } = JSON.parse((await send('/api/v2/users', { headers: sent })).text);

  const begun = expect.stringMatching(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-01$/);
  expect([headers.traceparent, headers.tracestate]).toEqual(
    isKept ? [traceparent, 'a=1'] : [begun, undefined],
  );
  const [, traceId] = headers.traceparent.split('-');
  expect(await logged(id)).toMatchObject({ traceparent: headers.traceparent, traceId });
});

test('by default, the edge begins a trace for each request, and samples 10 % of them', async () => {
  const own = await startEdgeWith(SETTINGS);
  const id = crypto.randomUUID();
  const sent = { 'x-request-id': id, traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=1' };

  const received: string[] = [];
  for (let count = 0; count < 500; count += 1) {
    const response = await fetch(`${own.origin}/api/v2/users`, { headers: sent });
    const { headers } = (await response.json()) as { headers: http.IncomingHttpHeaders };
    expect(headers).not.toHaveProperty('tracestate');
    received.push(String(headers.traceparent));
  }

  const begun = new RegExp(`^00-(?!${TRACE})[\\da-f]{32}-[\\da-f]{16}-0[01]$`);
  const sampled = /-01$/;
  expect(received.filter((one) => begun.test(one))).toHaveLength(500);
  // Six standard deviations.
  const share = received.filter((one) => sampled.test(one)).length / received.length;
  expect(Math.abs(share - 0.1)).toBeLessThan(0.08);
  expect(received).toContain((await logged(id, own)).traceparent);
});

test('statsd_exporter counts requests by status, and which of them the edge rejected', async () => {
  const [port, free] = [await freePort(), await freePort()];
  const exporter = planEdgeExporter({ command: ensureTool('statsd_exporter'), port });
  const { command, args, env, cwd, readyUrl } = exporter;
  const program = await startProgram([command, ...args], { env, cwd, ready: readyUrl });
  onTestFinished(() => program.stop());
  const failing = await startReplica((_, response) => response.writeHead(502).end());
  const upstreams = { users: [failing.port], reports: [free] };
  const own = await startTrialEdge(upstreams, { statsdPort: port });
  onTestFinished(() => own.stop());
  const metrics = async () => (await fetch(readyUrl)).text();

  await fetch(`${own.origin}/api/v2/users`);
  await fetch(`${own.origin}/api/v2/users`, { method: 'REPORT' });
  await fetch(`${own.origin}/api/v2/reports`, { method: 'PUT' });
  await fetch(`${own.origin}/api/v2/other`);

  await expect.poll(metrics).toContain('duration_seconds_count{upstream="reports"} 1\n');
  const counted = (await metrics()).match(/^edge_http_requests_total.*/gm);
  const of = (method: string, source: string, status: number, upstream: string) =>
    `edge_http_requests_total{method="${method}",source="${source}",status="${status}",upstream="${upstream}"} 1`;
  // nginx was ready when a request for the page had been served.
  expect(counted?.filter((line) => !line.includes('status="200"')).sort()).toEqual([
    of('GET', 'edge', 404, 'none'),
    of('GET', 'service', 502, 'users'),
    of('PUT', 'edge', 502, 'reports'),
    of('other', 'service', 502, 'users'),
  ]);
  expect(await metrics()).toMatch(/^edge_connections\{state="open"\} [1-9]/m);
  expect(await metrics()).toContain('statsd_exporter_tag_errors_total 0\n');
});

test.each([
  [{ REQUEST_TIMEOUT_MS: '1500' }, ['proxy_read_timeout 12s;', 'proxy_send_timeout 12s;']],
  [{ REQUEST_TIMEOUT_MS: '0' }, ['proxy_read_timeout 86400s;', 'proxy_send_timeout 86400s;']],
  [{ BODY_LIMIT: '67108864' }, ['client_max_body_size 67108864;']],
])('for services with %j, make up adds %j', (env, limits) => {
  expect(edgeLimitsOf(env)).toEqual(limits);
});

test.each([
  ['bytes that are not UTF-8', '/api/v1/users/\xff\xfe', '/api/v1/users/', 400],
  ['a quote and an escape', '/api/v1/users/"%0a?secret=7', '/api/v1/users/"%0a', 200],
  ['an unavailable service', '/api/v1/reports', '/api/v1/reports', 502],
])('the log has a line of JSON for %s, without the query', async (_, target, path, status) => {
  const id = crypto.randomUUID();

  await send(target, { headers: { 'x-request-id': id } });

  expect(await logged(id)).toMatchObject({ method: 'GET', path, status });
  // nginx warns about a variable without a default once per request.
  expect(edge.log()).not.toContain('uninitialized');
});

test('without a free connection, requests get 503 with Retry-After, except critical ones', async () => {
  const held: http.ServerResponse[] = [];
  const { port } = await startReplica((_, response) => held.push(response));
  const origin = await startEdge([port]);
  const get = (target: string) => fetch(origin + target);
  const waiting = Array.from({ length: 200 }, () => get('/api/v2/users'));
  await expect.poll(() => held.length).toBe(200);

  const rejected = await get('/api/v2/users');
  const id = crypto.randomUUID();
  const critical = [id, `${id.toUpperCase()}/`].map((path) => get(`/api/v2/users/${path}`));
  await expect.poll(() => held.length).toBe(202);
  for (const response of held) response.end();

  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await rejected.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect((await Promise.all([...critical, ...waiting])).every(({ ok }) => ok)).toBe(true);
});

test.each([
  ...['PUT', 'DELETE', 'POST', 'PATCH', 'QUERY'].map(
    (one) => [one, 'fails', die, 'BAD_GATEWAY'] as const,
  ),
  ['POST', 'takes too long', () => {}, 'GATEWAY_TIMEOUT'] as const,
])('a %s is not repeated if a replica that received it %s', async (method, _, fail, code) => {
  const [first, second] = [await startReplica(fail), await startReplica(fail)];
  const origin = await startEdge([first.port, second.port], ['proxy_read_timeout 1s;']);

  const response = await fetch(`${origin}/api/v2/users`, { method });

  expect(await response.json()).toMatchObject({ status: response.status, code });
  expect([...first.received, ...second.received]).toEqual([method]);
});

test.each(['GET', 'HEAD'])('a %s whose replica fails is sent to one other', async (method) => {
  const healthy = await startReplica(echo);
  const dying = [await startReplica(die), await startReplica(die), await startReplica(die)];
  const [first, ...others] = dying.map(({ port }) => port) as [number, number, number];

  const statuses: number[] = [];
  for (const users of [[first, healthy.port], others]) {
    statuses.push((await fetch(`${await startEdge(users)}/api/v2/users`, { method })).status);
  }

  expect(statuses).toEqual([200, 502]);
  expect([healthy, ...dying].map(({ received }) => received)).toEqual(Array(4).fill([method]));
});

test.each(['GET', 'POST'])(
  'a %s whose replica accepts no connection is sent to another, with its body',
  async (method) => {
    const replica = await startReplica(echo);
    // Bodies above 1 MiB are in a file.
    const bytes = method === 'GET' ? 0 : 3_000_000;
    const origin = await startEdge([await freePort(), replica.port], ['client_max_body_size 4m;']);
    const init = { method, ...(bytes > 0 && { body: 'x'.repeat(bytes) }) };

    // nginx tries the unavailable replica first for one of two requests.
    for (let count = 0; count < 2; count += 1) {
      const response = await fetch(`${origin}/api/v2/users`, init);
      expect(await response.json()).toMatchObject({ method, bytes });
    }
    expect(replica.received).toEqual([method, method]);
  },
);

test('responses are forwarded with any status and 8 KiB in a header, on reused connections', async () => {
  const replica = await startReplica((_, response) => {
    response.writeHead(502, { link: 'a'.repeat(8_000), 'retry-after': '7' }).end('of the service');
  });
  let opened = 0;
  replica.server.on('connection', () => (opened += 1));
  const origin = await startEdge([replica.port]);

  for (let count = 0; count < 20; count += 1) {
    const { status, headers } = await fetch(`${origin}/api/v2/users`);
    expect([status, headers.get('retry-after')]).toEqual([502, '7']);
    expect(headers.get('link')).toHaveLength(8_000);
  }
  expect(opened).toBe(1);
});
