import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { ensureTool } from '../../tools/programs.ts';
import { edgeLimitsOf } from '../local/processes/edge.ts';
import { freePort, listenAnywhere } from '../local/testing/ports.ts';
import { startTrialEdge, type TrialEdge } from '../local/testing/trial-edge.ts';

const servers: http.Server[] = [];
let edge: TrialEdge;

/** Starts a service that responds with the request, so that a test sees what the edge forwarded. */
async function startEcho(): Promise<number> {
  const server = http.createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray()).length;
    const { url, headers } = request;
    response.end(JSON.stringify({ url, headers, bytes }));
  });
  servers.push(server);
  return await listenAnywhere(server);
}

beforeAll(async () => {
  edge = await startTrialEdge({
    users: [await startEcho(), await startEcho()],
    catalog: [await startEcho()],
    reports: [await freePort()],
  });
});
afterAll(async () => {
  await edge.stop();
  for (const server of servers) server.close();
});

interface Received {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Sends the target unchanged; `fetch` would normalise it. */
async function send(target: string, options: http.RequestOptions = {}): Promise<Received> {
  const { hostname, port } = new URL(edge.origin);
  const request = http.request({ hostname, port, path: target, agent: false, ...options }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, text };
}

/** The request as it arrives at a replica of users. */
async function forwarded(headers: http.OutgoingHttpHeaders): Promise<http.IncomingMessage> {
  return JSON.parse((await send('/api/v2/users', { headers })).text);
}

/** The entry of a request in the access log. */
async function logged(id: string) {
  const line = () => edge.log().match(`.*"requestId":"${id}".*`)?.[0];
  await expect.poll(line).toBeDefined();
  return JSON.parse(line() ?? '');
}

test('the files of this folder are a valid configuration as they are', () => {
  const prefix = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-edge-'));
  fs.cpSync(import.meta.dirname, prefix, { recursive: true });

  const { status, stderr } = spawnSync(
    ensureTool('nginx'),
    ['-t', '-q', '-e', 'stderr', '-p', prefix, '-c', 'nginx.conf'],
    // nginx opens its standard output by name, which a pipe of Node's does not allow.
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  fs.rmSync(prefix, { recursive: true });

  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
});

test.each([
  '/api/v1/users',
  '/api/v2/catalog/7?x=1',
  '/docs/users/openapi.json',
  '/api/v1/users/a%2Fb%252Fc',
  '/api/v1/%75sers/7',
  '/api/v1/users//7/./8',
  '/api/v1/catalog/../users/7',
  '/api/v1/users/a+b%20c?q=%41+%zz',
])('%s reaches its service exactly as sent', async (target) => {
  const { text } = await send(target);

  expect(JSON.parse(text).url).toBe(target);
});

test.each([
  ['GET', '/api/v1/users/%ZZ', 400, 'BAD_REQUEST'],
  ['GET', '/../api/v1/users', 400, 'BAD_REQUEST'],
  ['GET', '/nginx.conf', 404, 'NOT_FOUND'],
  ['GET', '/page/../upstreams.conf', 404, 'NOT_FOUND'],
  ['GET', '/page/none.html', 404, 'NOT_FOUND'],
  ['GET', '/problem', 404, 'NOT_FOUND'],
  ['GET', '/docs', 404, 'NOT_FOUND'],
  ['GET', '/api/v3/users', 404, 'NOT_FOUND'],
  ['GET', '//api/v1/users', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/Users', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/usersx', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/users%0A', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/users/../admin', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/users_critical/7', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/localhost/', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/127.0.0.1:9090/', 404, 'NOT_FOUND'],
  ['PUT', '/', 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/page/page.css', 405, 'METHOD_NOT_ALLOWED'],
  ['TRACE', '/api/v1/users', 405, 'METHOD_NOT_ALLOWED'],
  ['PUT', '/api/v2/reports/x.html', 502, 'BAD_GATEWAY'],
])('%s %s gets %i and a problem', async (method, target, status, code) => {
  const response = await send(target, { method });

  expect(response).toMatchObject({
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  });
  expect(response.headers.allow).toBe(
    status === 405 && !target.startsWith('/api') ? 'GET, HEAD' : undefined,
  );
  expect(response.headers['retry-after']).toBe(status === 502 ? '1' : undefined);
  const problem = JSON.parse(response.text);
  expect(problem).toMatchObject({ type: 'about:blank', status, code, detail: problem.title });
  expect(problem.requestId).toBe(response.headers['x-request-id']);
});

test.each([
  ['target', 'a'.repeat(9_000), 'a', 414, 'URI_TOO_LONG'],
  ['header', 'a', 'a'.repeat(9_000), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
])('a %s over 8 KiB gets a problem', async (_, id, value, status, code) => {
  const response = await send(`/api/v1/users/${id}`, { headers: { 'x-long': value } });

  expect([response.status, JSON.parse(response.text).code]).toEqual([status, code]);
});

test('the page has a policy that allows no other origin, and is sent again only if it changed', async () => {
  const other = await startTrialEdge({});
  onTestFinished(() => other.stop());
  fs.utimesSync(path.join(other.plan.cwd, 'page/index.html'), new Date(0), new Date(0));
  const { port } = new URL(other.origin);

  for (const target of ['/', '/page/page.css']) {
    const { headers, text } = await send(target);
    const etag = headers.etag ?? '';
    const get = async (known: string) =>
      (await send(target, { headers: { 'if-none-match': known } })).status;

    expect(text.length).toBeGreaterThan(1_000);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/(html|css); charset=utf-8$/),
      'content-security-policy': expect.stringMatching(/^default-src 'none'; (?!.*unsafe)/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(headers).not.toHaveProperty('last-modified');
    // Independent of the replica and of the modification time.
    expect((await send(target, { port })).headers.etag).toBe(etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect([known, await get(known)]).toEqual([known, 304]);
    }
    for (const known of ['"other"', etag.slice(1, -1), `"x${etag.slice(1)}`, '']) {
      expect([known, await get(known)]).toEqual([known, 200]);
    }
  }
});

test('the edge replaces the forwarding headers of the client', async () => {
  const { headers } = await forwarded({
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

test.each([
  ['A-Z_09', true],
  ['x'.repeat(64), true],
  ['', false],
  ['a"b', false],
  ['x'.repeat(65), false],
])('of the request id %j, the edge keeps it: %s', async (id, isKept) => {
  const { headers } = await forwarded({ 'x-request-id': id });

  expect(headers['x-request-id']).toEqual(isKept ? id : expect.stringMatching(/^[0-9a-f]{32}$/));
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

// W3C Trace Context §3.2.2 and §3.3
test.each([
  [`00-${TRACE}-${PARENT}-00`, true],
  [`01-${TRACE}-${PARENT}-03-more`, true],
  ['', false],
  [`00-${TRACE}-${PARENT}-01-more`, false],
  [`01-${TRACE}-${PARENT}-01more`, false],
  [`ff-${TRACE}-${PARENT}-01`, false],
  [`00-${'0'.repeat(32)}-${PARENT}-01`, false],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
  [`00-${TRACE.toUpperCase()}-${PARENT}-01`, false],
])('of the traceparent "%s", the edge keeps it: %s', async (traceparent, isKept) => {
  const id = crypto.randomUUID();

  const { headers } = await forwarded({ 'x-request-id': id, traceparent, tracestate: 'a=1' });

  const { traceId, spanId, ...entry } = await logged(id);
  const begun = `00-${traceId}-${spanId}-01`;
  expect([headers.traceparent, headers.tracestate]).toEqual(
    isKept ? [traceparent, 'a=1'] : [begun, undefined],
  );
  expect(entry.traceparent).toBe(headers.traceparent);
  expect(traceId === TRACE).toBe(isKept);
  expect([traceId, spanId].join()).toMatch(/^(?!0{32})[\da-f]{32},(?!0{16})[\da-f]{16}$/);
  expect(spanId).not.toBe(PARENT);
});

test('a body of 1 MiB is accepted and a larger one gets 413, with Content-Length and in chunks', async () => {
  const post = (init: RequestInit) =>
    fetch(`${edge.origin}/api/v1/users`, { method: 'POST', duplex: 'half', ...init });

  for (const [bytes, status] of [
    [1024 ** 2, 200],
    [1024 ** 2 + 1, 413],
  ] as const) {
    const body = Buffer.alloc(bytes, 'a');
    for (const sent of [body, ReadableStream.from([body])]) {
      const response = await post({ body: sent });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject(
        status === 200 ? { bytes } : { code: 'PAYLOAD_TOO_LARGE' },
      );
    }
  }
});

test.each([
  [{ REQUEST_TIMEOUT_MS: '1500' }, ['proxy_read_timeout 12s;', 'proxy_send_timeout 12s;']],
  [{ REQUEST_TIMEOUT_MS: '0' }, ['proxy_read_timeout 86400s;', 'proxy_send_timeout 86400s;']],
  [{ REQUEST_TIMEOUT_MS: 'long', BODY_LIMIT: '' }, []],
  [{ BODY_LIMIT: '67108864' }, ['client_max_body_size 67108864;']],
  // The other services accept 1 MiB.
  [{ BODY_LIMIT: '1000' }, []],
])('for services with %j, make up adds %j', (env, limits) => {
  expect(edgeLimitsOf(env)).toEqual(limits);
});

test.each([
  ['%ff%fe', '/api/v1/users/%ff%fe?secret=7', '/api/v1/users/%ff%fe'],
  ['bytes that are not UTF-8', '/api/v1/users/\xff\xfe', '/api/v1/users/'],
  ['a quote and a control character', '/api/v1/users/"%0a?secret=7', '/api/v1/users/"%0a'],
])('the log has a line of JSON for a path with %s, without its query', async (_, target, path) => {
  const id = crypto.randomUUID();

  await send(target, { headers: { 'x-request-id': id } });

  const upstreamSeconds = expect.stringMatching(/^[\d.]+$/);
  expect(await logged(id)).toMatchObject({ method: 'GET', path, upstreamSeconds });
  expect(isUtf8(edge.logBytes())).toBe(true);
});

test('lines of the error log do not replace lines of the access log', async () => {
  const ids = Array.from({ length: 40 }, () => crypto.randomUUID());

  for (const id of ids) await send('/api/v1/reports', { headers: { 'x-request-id': id } });

  for (const id of ids) expect(await logged(id)).toMatchObject({ status: 502 });
  expect(edge.log()).toContain('Connection refused');
  // One per request with TRACE, if a variable has no default.
  expect(edge.log()).not.toContain('uninitialized');
});
