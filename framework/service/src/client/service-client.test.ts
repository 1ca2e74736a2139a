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

type Answer = (res: ServerResponse, req: IncomingMessage) => void;

/** Starts a service that answers its requests in turn by `answers`, the last of them for ever. */
async function startUpstream(...answers: Answer[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    const answer = answers[Math.min(requests.push(req), answers.length) - 1];
    answer?.(res, req);
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
  const client = createServiceClient({
    name: 'users',
    baseUrl,
    timeoutMs: 5_000,
    retryDelayMs: 1,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** A request with these headers that nobody has left. */
function newCall(headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
  const call: CallContext = {
    requestId: 'request-1',
    get: (name) => headers[name],
    signal: signal ?? new AbortController().signal,
  };
  return call;
}

const answerTotal: Answer = (res) => res.end('{"data":{"total":2}}');
const answer =
  (status: number): Answer =>
  (res) => {
    res.writeHead(status).end('{}');
  };
const hangUp: Answer = (res) => res.destroy();
const neverAnswer: Answer = () => {};

test('a client reads JSON below the address of the other service', async () => {
  const upstream = await startUpstream(answerTotal);

  const value = await newClient(`${upstream.url}/base/`).getJson('/figures?days=30', newCall());

  expect(value).toEqual({ data: { total: 2 } });
  expect(upstream.requests[0]).toMatchObject({ method: 'GET', url: '/base/figures?days=30' });
});

test('a call carries the id and the trace of its request, and nothing else of it', async () => {
  const upstream = await startUpstream(answerTotal);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { traceparent, tracestate: 'a=b', authorization: 'Bearer x', cookie: 'y' };

  await newClient(upstream.url).getJson('/', newCall(headers));

  expect(upstream.requests[0]?.headers).toEqual({
    accept: 'application/json',
    connection: 'keep-alive',
    host: expect.any(String),
    'x-request-id': 'request-1',
    traceparent,
    tracestate: 'a=b',
  });
});

test('a trace that is not valid goes no further', async () => {
  const upstream = await startUpstream(answerTotal);
  const headers = { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, tracestate: 'a=b' };

  await newClient(upstream.url).getJson('/', newCall(headers));

  expect(upstream.requests[0]?.headers).not.toHaveProperty('traceparent');
  expect(upstream.requests[0]?.headers).not.toHaveProperty('tracestate');
});

test('calls share a connection', async () => {
  const upstream = await startUpstream(answerTotal);
  const client = newClient(upstream.url);

  await client.getJson('/', newCall());
  await client.getJson('/', newCall());

  const [first, second] = upstream.requests;
  expect(second?.socket).toBe(first?.socket);
});

test.each<readonly [string, Answer]>([
  ['502', answer(502)],
  ['503', answer(503)],
  ['504', answer(504)],
  ['a connection that is cut', hangUp],
  ['an answer that is cut', (res) => res.writeHead(200).write('{', () => res.destroy())],
])('%s is met by a second try', async (_, failure) => {
  const upstream = await startUpstream(failure, answerTotal);

  const value = await newClient(upstream.url).getJson('/', newCall());

  expect(value).toEqual({ data: { total: 2 } });
  expect(upstream.requests).toHaveLength(2);
});

test('no answer in time is met by a second try', async () => {
  const upstream = await startUpstream(neverAnswer, answerTotal);

  const value = await newClient(upstream.url, { timeoutMs: 300 }).getJson('/', newCall());

  expect(value).toEqual({ data: { total: 2 } });
});

test.each<readonly [string, Answer, object, number]>([
  ['503 twice', answer(503), { reason: 'status' }, 2],
  ['404', answer(404), { reason: 'status' }, 1],
  ['500', answer(500), { reason: 'status' }, 1],
  ['a redirect', answer(302), { reason: 'status' }, 1],
  ['no JSON', (res) => res.end('<p>'), { reason: 'unreadable' }, 1],
  ['too much', (res) => res.end(JSON.stringify('x'.repeat(2_000))), { reason: 'unreadable' }, 1],
  ['no end', (res) => void res.write('{'), { reason: 'timeout' }, 2],
  ['a connection that is cut twice', hangUp, { reason: 'unreachable' }, 2],
])('%s is an error that names the service and why', async (_, failure, expected, tries) => {
  const upstream = await startUpstream(failure);
  const client = newClient(upstream.url, { timeoutMs: 200, limitBytes: 1_000 });

  const error = await client.getJson('/', newCall()).catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(ServiceCallError);
  expect(error).toMatchObject({ ...expected, service: 'users', status: 503 });
  expect(upstream.requests).toHaveLength(tries);
});

test('a service where nobody listens is unreachable', async () => {
  const client = newClient('http://127.0.0.1:1');

  await expect(client.getJson('/', newCall())).rejects.toMatchObject({ reason: 'unreachable' });
});

test('after failures in a row nobody asks any more, until a trial shows that it works', async () => {
  const upstream = await startUpstream(hangUp, hangUp, answerTotal);
  const clock = { ms: 0 };
  const options = { failures: 2, openMs: 1_000, now: () => clock.ms };
  const client = newClient(upstream.url, options);
  await client.getJson('/', newCall()).catch(() => {});

  const spared = client.getJson('/', newCall());
  await expect(spared).rejects.toMatchObject({ reason: 'open' });
  clock.ms = 1_000;
  const value = await client.getJson('/', newCall());

  expect(value).toEqual({ data: { total: 2 } });
  expect(upstream.requests).toHaveLength(3);
});

test('a call whose caller leaves is called off and not tried again', async () => {
  const caller = new AbortController();
  const upstream = await startUpstream(() => caller.abort(new Error('left')));

  const call = newClient(upstream.url, { failures: 1 }).getJson('/', newCall({}, caller.signal));

  await expect(call).rejects.toThrow('left');
  expect(upstream.requests).toHaveLength(1);
});

test('a caller who has left before is not asked for', async () => {
  const upstream = await startUpstream(answerTotal);

  const call = newClient(upstream.url).getJson('/', newCall({}, AbortSignal.abort()));

  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  expect(upstream.requests).toHaveLength(0);
});

test('an error of a call that nobody catches is answered 503', async () => {
  const client = newClient('http://127.0.0.1:1');
  const logger = { info() {}, warn() {}, error() {} };
  const app = createApp({ logger }).use(async (ctx) => ctx.json(await client.getJson('/', ctx)));

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
});

test.each(['', 'localhost', 'ftp://a', 'http://a/?b=c'])('%j is no address of a service', (url) => {
  expect(() => newClient(url)).toThrow(`Cannot ask a service at "${url}"`);
});
