import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { request } from '@fw/core/testing';
import { createApp } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import {
  type CallContext,
  createServiceClient,
  ServiceCallError,
  type ServiceClientOptions,
} from './service-client.ts';

type Responder = (res: ServerResponse, req: IncomingMessage) => void;

/** Starts a service whose requests get the responses of `responders` in turn; the last one repeats. */
async function startUpstream(...responders: Responder[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    const respond = responders[Math.min(requests.push(req), responders.length) - 1];
    respond?.(res, req);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function newClient(baseUrl: string, options: Partial<ServiceClientOptions> = {}) {
  const defaults = { name: 'users', baseUrl, timeoutMs: 5_000, retryDelayMs: 1 };
  return createServiceClient({ ...defaults, ...options });
}

/** A request with these headers whose client waits. */
function newCall(headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
  const call: CallContext = {
    requestId: 'request-1',
    get: (name) => headers[name],
    signal: signal ?? new AbortController().signal,
  };
  return call;
}

const sendTotal: Responder = (res) => res.end('{"data":{"total":2}}');
const sendStatus =
  (status: number): Responder =>
  (res) => {
    res.writeHead(status).end('{}');
  };
const hangUp: Responder = (res) => res.destroy();
const neverRespond: Responder = () => {};

test('getJson reads JSON from a path under the base URL', async () => {
  const upstream = await startUpstream(sendTotal);

  const value = await newClient(`${upstream.url}/base/`).getJson('/figures?days=30', newCall());

  expect(value).toEqual({ data: { total: 2 } });
  expect(upstream.requests[0]).toMatchObject({ method: 'GET', url: '/base/figures?days=30' });
});

test('getJson sends the id and the trace of the request, and no other header of it', async () => {
  const upstream = await startUpstream(sendTotal);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { traceparent, tracestate: 'a=b', authorization: 'Bearer x', cookie: 'y' };

  await newClient(upstream.url).getJson('/', newCall(headers));

  const sent = upstream.requests[0]?.headers;
  expect(sent).toMatchObject({
    accept: 'application/json',
    'x-request-id': 'request-1',
    traceparent,
    tracestate: 'a=b',
  });
  expect(sent).not.toHaveProperty('authorization');
  expect(sent).not.toHaveProperty('cookie');
});

test('an invalid trace is not passed on', async () => {
  const upstream = await startUpstream(sendTotal);
  const headers = { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, tracestate: 'a=b' };

  await newClient(upstream.url).getJson('/', newCall(headers));

  expect(upstream.requests[0]?.headers).not.toHaveProperty('traceparent');
  expect(upstream.requests[0]?.headers).not.toHaveProperty('tracestate');
});

test('sequential calls reuse connections', async () => {
  const upstream = await startUpstream(sendTotal);
  const client = newClient(upstream.url);

  for (let count = 0; count < 10; count++) await client.getJson('/', newCall());

  const sockets = new Set(upstream.requests.map(({ socket }) => socket));
  expect(sockets.size).toBeLessThan(5);
});

test.each<readonly [string, Responder]>([
  ['502', sendStatus(502)],
  ['503', sendStatus(503)],
  ['504', sendStatus(504)],
  ['a closed connection', hangUp],
  ['an incomplete response', (res) => res.writeHead(200).write('{', () => res.destroy())],
])('%s is followed by a second attempt', async (_, failure) => {
  const upstream = await startUpstream(failure, sendTotal);

  const value = await newClient(upstream.url).getJson('/', newCall());

  expect(value).toEqual({ data: { total: 2 } });
  expect(upstream.requests).toHaveLength(2);
});

test('a time-out is followed by a second attempt', async () => {
  const upstream = await startUpstream(neverRespond, sendTotal);

  const value = await newClient(upstream.url, { timeoutMs: 300 }).getJson('/', newCall());

  expect(value).toEqual({ data: { total: 2 } });
});

test.each<readonly [string, Responder, object, number]>([
  ['503 twice', sendStatus(503), { reason: 'status' }, 2],
  ['404', sendStatus(404), { reason: 'status' }, 1],
  ['500', sendStatus(500), { reason: 'status' }, 1],
  ['a redirect', sendStatus(302), { reason: 'status' }, 1],
  ['a response that is not JSON', (res) => res.end('<p>'), { reason: 'unreadable' }, 1],
  [
    'a response above the limit',
    (res) => res.end(JSON.stringify('x'.repeat(2_000))),
    { reason: 'unreadable' },
    1,
  ],
  ['an endless response', (res) => void res.write('{'), { reason: 'timeout' }, 2],
  ['two closed connections', hangUp, { reason: 'unreachable' }, 2],
])('%s is an error that names the service and the reason', async (_, failure, expected, tries) => {
  const upstream = await startUpstream(failure);
  const client = newClient(upstream.url, { timeoutMs: 200, limitBytes: 1_000 });

  const error = await client.getJson('/', newCall()).catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(ServiceCallError);
  expect(error).toMatchObject({ ...expected, service: 'users', status: 503 });
  expect(upstream.requests).toHaveLength(tries);
});

test('a closed port is unreachable', async () => {
  const client = newClient('http://127.0.0.1:1');

  await expect(client.getJson('/', newCall())).rejects.toMatchObject({ reason: 'unreachable' });
});

test('after failures in a row no request is sent until a trial succeeds', async () => {
  const upstream = await startUpstream(hangUp, hangUp, sendTotal);
  const clock = { ms: 0 };
  const options = { failures: 2, openMs: 1_000, now: () => clock.ms };
  const client = newClient(upstream.url, options);
  await client.getJson('/', newCall()).catch(() => {});

  const rejected = client.getJson('/', newCall());
  await expect(rejected).rejects.toMatchObject({ reason: 'open' });
  clock.ms = 1_000;
  const value = await client.getJson('/', newCall());

  expect(value).toEqual({ data: { total: 2 } });
  expect(upstream.requests).toHaveLength(3);
});

test('a call is aborted and not repeated when its client leaves', async () => {
  const caller = new AbortController();
  const upstream = await startUpstream(() => caller.abort(new Error('left')));

  const call = newClient(upstream.url, { failures: 1 }).getJson('/', newCall({}, caller.signal));

  await expect(call).rejects.toThrow('left');
  expect(upstream.requests).toHaveLength(1);
});

test('no request is sent for a client that has left', async () => {
  const upstream = await startUpstream(sendTotal);

  const call = newClient(upstream.url).getJson('/', newCall({}, AbortSignal.abort()));

  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  expect(upstream.requests).toHaveLength(0);
});

test('an uncaught call error gets a 503 response', async () => {
  const client = newClient('http://127.0.0.1:1');
  const logger = { info() {}, warn() {}, error() {} };
  const app = createApp({ logger }).use(async (ctx) => ctx.json(await client.getJson('/', ctx)));

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
});

test.each(['', 'localhost', 'ftp://a', 'http://a/?b=c'])(
  'createServiceClient rejects the address %j',
  (url) => {
    expect(() => newClient(url)).toThrow(`Cannot call a service at "${url}"`);
  },
);
