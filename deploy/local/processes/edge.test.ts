import { isUtf8 } from 'node:buffer';
import type { StdioOptions } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { openConnection } from '@fw/core/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SERVICES } from '../../../services/services.ts';
import { freePort, listenAnywhere } from '../testing/ports.ts';
import { startTrialEdge, type TrialEdge } from '../testing/trial-edge.ts';
import { edgeLimitsOf, renderLimits, renderUpstreams } from './edge.ts';

const upstreams: http.Server[] = [];
let edge: TrialEdge;
let origin: string;

/** Responds with the request, so that a test sees what the edge forwarded. */
async function startEcho(service: string): Promise<number> {
  const server = http.createServer(async (request, response) => {
    const body = await request.toArray();
    const { method, url, headers } = request;
    const bytes = Buffer.concat(body).length;
    response.setHeader('content-type', 'application/json');
    if (url?.endsWith('?status=503')) response.writeHead(503, { 'retry-after': '7' });
    response.end(JSON.stringify({ service, method, url, headers, bytes }));
  });
  upstreams.push(server);
  return await listenAnywhere(server);
}

beforeAll(async () => {
  edge = await startTrialEdge({
    users: [await startEcho('users'), await startEcho('users')],
    catalog: [await startEcho('catalog')],
    reports: [await freePort()],
  });
  origin = edge.origin;
});

afterAll(async () => {
  await edge.stop();
  for (const server of upstreams) server.close();
});

/** Sends the target unchanged; `fetch` would normalise it. */
function rawGet(target: string, headers: http.OutgoingHttpHeaders = {}) {
  return new Promise<{
    status: number | undefined;
    text: string;
    headers: http.IncomingHttpHeaders;
  }>((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    http
      .get({ hostname, port, path: target, headers, agent: false }, async (response) => {
        const text = Buffer.concat(await response.toArray()).toString();
        resolve({ status: response.statusCode, text, headers: response.headers });
      })
      .once('error', reject);
  });
}

async function echoOf(target: string, headers: http.OutgoingHttpHeaders = {}) {
  const { status, text } = await rawGet(target, headers);
  expect({ target, status }).toEqual({ target, status: 200 });
  return JSON.parse(text);
}

test('nginx accepts the configuration', () => {
  const { command, args } = edge.plan;
  // nginx opens its standard output by name, which a pipe of Node's does not allow.
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe'];

  const { status, stderr } = spawnSync(command, ['-t', '-q', ...args], { stdio });

  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
});

test('each upstream lists all replicas, and keeps idle connections for less than the 5 s of a stopping service', () => {
  const text = renderUpstreams({ users: [1, 2], reports: [4] });

  expect(text).toContain(
    'upstream users {\n  server 127.0.0.1:1 max_conns=200 fail_timeout=1s;\n  server 127.0.0.1:2',
  );
  expect(text.match(/^upstream /gm)).toHaveLength(4);
  expect(text.match(/keepalive_timeout 3s;/g)).toHaveLength(4);
});

test.each([
  [{}, 30, 1024 ** 2],
  [{ REQUEST_TIMEOUT_MS: '600000' }, 610, 1024 ** 2],
  [{ REQUEST_TIMEOUT_MS: '1500' }, 12, 1024 ** 2],
  [{ REQUEST_TIMEOUT_MS: 'long', BODY_LIMIT: '' }, 30, 1024 ** 2],
  [{ REQUEST_TIMEOUT_MS: '0' }, 86_400, 1024 ** 2],
  [{ BODY_LIMIT: '67108864' }, 30, 64 * 1024 ** 2],
  // The other services accept 1 MiB.
  [{ BODY_LIMIT: '1000' }, 30, 1024 ** 2],
])('with %j, the edge waits %i s and accepts bodies of %i bytes', (env, seconds, bytes) => {
  expect(renderLimits(edgeLimitsOf(env))).toBe(
    `client_max_body_size ${bytes};\nproxy_read_timeout ${seconds}s;\nproxy_send_timeout ${seconds}s;\nkeepalive_timeout 620s;\n`,
  );
});

test('the edge serves the page, whose policy allows no other origin', async () => {
  const page = await rawGet('/');

  expect(page.status).toBe(200);
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringMatching(/^default-src 'none'; (?!.*unsafe)/),
    'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(page.text).toContain('<!doctype html>');
});

test('the page and its files are smaller than 20 kB with three services and come from the edge', async () => {
  const folder = path.resolve(import.meta.dirname, '../../nginx/page');
  const names = fs.readdirSync(folder).filter((name) => name !== 'index.html');

  const page = await rawGet('/');
  const files = await Promise.all(names.map((name) => rawGet(`/page/${name}`)));

  expect(new Set(files.map(({ headers }) => headers['content-type']))).toEqual(
    new Set([
      'image/svg+xml',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
      'application/json',
    ]),
  );
  // Each service is an article of less than 700 bytes.
  const limit = 17_900 + 700 * SERVICES.length;
  expect([page, ...files].map(({ text }) => text).join('').length).toBeLessThan(limit);
  expect(page.text).not.toMatch(/(?:src|href)="(?!\/|#)/);
});

test.each(['/', '/page/page.css'])(
  '%s is not sent to a client that has the current version',
  async (target) => {
    const { headers } = await rawGet(target);
    const { etag = '' } = headers;

    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
    expect(headers['last-modified']).toBeUndefined();
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `${etag} , "other"`, '*']) {
      const again = await rawGet(target, { 'if-none-match': known });
      expect({ known, ...again }).toMatchObject({
        known,
        status: 304,
        text: '',
        headers: { etag },
      });
    }
    for (const other of ['"other"', etag.slice(1, -1), `"x${etag.slice(1)}`, '']) {
      const again = await rawGet(target, { 'if-none-match': other });
      expect({ other, status: again.status }).toEqual({ other, status: 200 });
    }
    const posted = await fetch(origin + target, {
      method: 'POST',
      headers: { 'if-none-match': etag },
    });
    expect(posted.status).toBe(405);
  },
);

test('every replica sends the same ETag, independent of the modification time of its files', async () => {
  const other = await startTrialEdge({});
  onTestFinished(() => other.stop());
  const index = path.join(other.plan.cwd, 'page/index.html');
  fs.utimesSync(index, new Date(0), new Date(0));

  const [here, there] = await Promise.all([origin, other.origin].map((base) => fetch(base)));

  expect(there?.headers.get('etag')).toBe(here?.headers.get('etag'));
});

test.each(['/', '/page/page.css'])('%s accepts only GET and HEAD', async (target) => {
  const response = await fetch(origin + target, { method: 'POST', body: 'x' });

  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD');
  expect(JSON.parse(await response.text()).code).toBe('METHOD_NOT_ALLOWED');
});

test('while no replica has a free connection, requests get 503 with Retry-After, except critical ones', async () => {
  const held: http.ServerResponse[] = [];
  const server = http.createServer((_, response) => held.push(response));
  onTestFinished(() => server.closeAllConnections());
  const users = [await listenAnywhere(server)];
  const busy = await startTrialEdge({ users });
  onTestFinished(() => busy.stop());
  const get = (target: string) => fetch(busy.origin + target);
  const waiting = Array.from({ length: 200 }, () => get('/api/v2/users'));
  await expect.poll(() => held.length, { timeout: 30_000 }).toBe(200);

  const rejected = await get('/api/v2/users');
  const critical = get(`/api/v2/users/${crypto.randomUUID()}`);
  await expect.poll(() => held.length, { timeout: 30_000 }).toBe(201);
  for (const response of held) response.end();

  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await rejected.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect((await critical).status).toBe(200);
  expect((await Promise.all(waiting)).every(({ ok }) => ok)).toBe(true);
  server.close();
});

test('only problems of unavailable services have Retry-After', async () => {
  const unavailable = await rawGet('/api/v1/reports');
  const unknown = await rawGet('/nowhere');

  expect([unavailable.status, unavailable.headers['retry-after']]).toEqual([502, '1']);
  expect([unknown.status, unknown.headers['retry-after']]).toEqual([404, undefined]);
});

test('no location, rewrite or condition uses a regular expression', () => {
  const text = fs.readFileSync(new URL('../../nginx/nginx.conf', import.meta.url), 'utf8');

  expect(text).not.toMatch(
    /^\s*(location\s+~|rewrite\s|if\s*\((?!\$(has_page|service = ""|final_status( = 50[34])?)\) \{ return \d+; \}$))/m,
  );
});

test('nginx.conf routes the API versions and the documentation of each service in services.ts', () => {
  const text = fs.readFileSync(new URL('../../nginx/nginx.conf', import.meta.url), 'utf8');
  const [, prefixes = '', names = ''] = /"~\^\/\(\?:(.+?)\)\/\(\?<name>(.+?)\)/.exec(text) ?? [];
  const versions = [...new Set(SERVICES.flatMap((service) => service.versions))];

  const advice = 'add the service or version to "map $uri $service" in deploy/nginx/nginx.conf';
  expect(names.split('|').sort(), advice).toEqual(SERVICES.map(({ name }) => name).sort());
  expect(prefixes.split('|'), advice).toEqual([...versions.map((one) => `api/${one}`), 'docs']);
});

test.each([
  ['/api/v1/users', 'users'],
  ['/api/v1/users/', 'users'],
  ['/api/v1/users?page=1', 'users'],
  ['/api/v2/users/7', 'users'],
  ['/api/v1/catalog', 'catalog'],
  ['/api/v2/catalog/7/x', 'catalog'],
  ['/docs/users', 'users'],
  ['/docs/users/openapi.json', 'users'],
  ['/docs/catalog', 'catalog'],
])('%s reaches %s', async (target, service) => {
  expect((await echoOf(target)).service).toBe(service);
});

test.each([
  '/api/v1/users/a%2Fb?x=1',
  '/api/v1/users/a%252Fb',
  '/api/v1/%75sers/7',
  '/api/v1/users//7',
  '/api/v1/users/./7',
  '/api/v1/catalog/../users/7',
  '/api/v1/users/%2e%2e/users/7',
  '/api/v1/users/a+b%20c?q=%41+%zz',
])('%s arrives exactly as sent', async (target) => {
  expect((await echoOf(target)).url).toBe(target);
});

test.each([
  ['/nginx.conf', 404, 'NOT_FOUND'],
  ['/page', 404, 'NOT_FOUND'],
  ['/page/', 404, 'NOT_FOUND'],
  ['/page/../upstreams.conf', 404, 'NOT_FOUND'],
  ['/docs', 404, 'NOT_FOUND'],
  ['/docs/usersx', 404, 'NOT_FOUND'],
  ['/api/v1/usersx', 404, 'NOT_FOUND'],
  ['/api/v1/users%0A', 404, 'NOT_FOUND'],
  ['/x/api/v1/users', 404, 'NOT_FOUND'],
  ['/api/v1', 404, 'NOT_FOUND'],
  ['/api/v3/users', 404, 'NOT_FOUND'],
  ['//api/v1/users', 404, 'NOT_FOUND'],
  ['/api/v1/users/../admin', 404, 'NOT_FOUND'],
  ['/problem', 404, 'NOT_FOUND'],
  ['/api/v1/users/%ZZ', 400, 'BAD_REQUEST'],
  ['/api/v1/users/%00', 400, 'BAD_REQUEST'],
  ['/../api/v1/users', 400, 'BAD_REQUEST'],
  ['/api/v1/reports', 502, 'BAD_GATEWAY'],
])('the edge responds to %s with %i and a problem', async (target, status, code) => {
  const response = await rawGet(target, { 'x-request-id': 'trial-1' });

  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toBe('application/problem+json');
  expect(response.headers['cache-control']).toBe('no-store');
  const problem = JSON.parse(response.text);
  expect(problem).toMatchObject({ type: 'about:blank', status, code, detail: problem.title });
  expect(problem.requestId).toBe(response.headers['x-request-id']);
});

test.each([
  ['DELETE', '/', 405],
  ['PUT', '/page/page.css', 405],
  ['GET', '/x.html', 404],
  ['GET', '/api/v2/users/%00.html', 400],
  ['PUT', '/api/v2/reports/x.html', 502],
  ['GET', '/api/v2/reports/x.js', 502],
])('%s %s is sent %i as application/problem+json', async (method, target, status) => {
  const response = await fetch(origin + target, { method });

  expect([response.status, response.headers.get('content-type')]).toEqual([
    status,
    'application/problem+json',
  ]);
});

test('a target over 8 KiB gets 414 and a problem', async () => {
  const response = await rawGet(`/api/v1/users/${'a'.repeat(9_000)}`);

  expect(response.status).toBe(414);
  expect(JSON.parse(response.text).code).toBe('URI_TOO_LONG');
});

test('a header over 8 KiB gets 431 and a problem', async () => {
  const response = await rawGet('/api/v1/users', { 'x-large': 'a'.repeat(9_000) });

  expect(response.status).toBe(431);
  expect(JSON.parse(response.text).code).toBe('REQUEST_HEADER_FIELDS_TOO_LARGE');
});

test('the edge replaces the forwarding headers of the client', async () => {
  const { headers } = await echoOf('/api/v1/users', {
    host: 'shop.example:8080',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'for=203.0.113.9',
  });

  expect(headers).toMatchObject({
    host: 'shop.example:8080',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'shop.example:8080',
    'x-forwarded-proto': 'http',
  });
  expect(headers).not.toHaveProperty('forwarded');
});

test('the edge forwards the trace context of the client', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  const { headers } = await echoOf('/api/v1/users', { traceparent, tracestate: 'a=1' });

  expect(headers).toMatchObject({ traceparent, tracestate: 'a=1' });
});

test.each(['abc', 'A-Z_09', 'x'.repeat(64)])('request id %s is forwarded', async (id) => {
  expect((await echoOf('/api/v1/users', { 'x-request-id': id })).headers['x-request-id']).toBe(id);
});

test.each(['', 'a b', 'a"b', 'a.b', 'x'.repeat(65)])('request id "%s" is replaced', async (id) => {
  const { headers } = await echoOf('/api/v1/users', { 'x-request-id': id });

  expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
});

test.each([
  [1024 ** 2, 200],
  [1024 ** 2 + 1, 413],
])('a body of %i bytes gets %i, with Content-Length and in chunks', async (bytes, status) => {
  const body = Buffer.alloc(bytes, 'a');
  const post = (init: RequestInit) => fetch(`${origin}/api/v1/users`, { method: 'POST', ...init });

  const whole = await post({ body });
  const chunked = await post({ body: ReadableStream.from([body]), duplex: 'half' });

  for (const response of [whole, chunked]) {
    expect(response.status).toBe(status);
    const parsed = JSON.parse(await response.text());
    expect(parsed).toMatchObject(status === 200 ? { bytes } : { code: 'PAYLOAD_TOO_LARGE' });
  }
});

test('responses to HEAD have no body, from a service and from the edge', async () => {
  for (const [target, status] of [
    ['/', 200],
    ['/api/v1/users', 200],
    ['/nowhere', 404],
  ] as const) {
    const response = await fetch(origin + target, { method: 'HEAD' });

    expect(response.status).toBe(status);
    expect(await response.text()).toBe('');
  }
});

test('connections to a service are reused', async () => {
  let opened = 0;
  for (const server of upstreams) server.on('connection', () => (opened += 1));

  for (let count = 0; count < 20; count++) await echoOf('/api/v1/users');

  expect(opened).toBeLessThanOrEqual(2);
});

test('Retry-After of a service is forwarded', async () => {
  const response = await rawGet('/api/v1/users?status=503');

  expect([response.status, response.headers['retry-after']]).toEqual([503, '7']);
  expect(JSON.parse(response.text).service).toBe('users');
});

test('the log has one JSON line per request, with its id and without its query', async () => {
  await echoOf('/api/v1/users?secret=7', { 'x-request-id': 'logged-1' });

  const readLine = () =>
    edge
      .log()
      .split('\n')
      .find((text) => text.includes('logged-1'));
  await expect.poll(readLine).toBeDefined();
  expect(JSON.parse(readLine() ?? '')).toMatchObject({
    method: 'GET',
    path: '/api/v1/users',
    status: 200,
    upstreamSeconds: expect.stringMatching(/^[\d.]+$/),
  });
});

test.each([
  ['%ff%fe', '/api/v1/users/%ff%fe', '/api/v1/users/%ff%fe'],
  ['bytes that are not UTF-8', '/api/v1/users/\xff\xfe', '/api/v1/users/'],
  ['a quote and a control character', '/api/v1/users/"%0a?secret=7', '/api/v1/users/"%0a'],
])('the log stays JSON in UTF-8 for a path with %s', async (_, target, path) => {
  const id = `path-${path.length}`;
  const { port } = new URL(origin);
  const connection = openConnection(Number(port)).send(
    `GET ${target} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n`,
  );
  await connection.readAll();

  const readLine = () => edge.logBytes().toString('latin1').match(`.*"${id}".*`)?.[0];
  await expect.poll(readLine).toBeDefined();
  expect(isUtf8(edge.logBytes())).toBe(true);
  expect(JSON.parse(readLine() ?? '')).toMatchObject({ path });
});

test('lines of the error log do not replace lines of the access log', async () => {
  await echoOf('/api/v1/users', { 'x-request-id': 'kept-1' });
  await expect.poll(() => edge.log()).toContain('kept-1');
  const { port } = new URL(origin);

  for (let count = 0; count < 40; count++) {
    await openConnection(Number(port))
      .send('TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      .readAll();
  }

  await expect.poll(() => edge.log().match(/"method":"TRACE"/g)?.length).toBe(40);
  expect(edge.log()).toContain('kept-1');
});
