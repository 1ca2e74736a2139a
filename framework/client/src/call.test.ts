import { expect, test } from 'vitest';

import { isUnsent } from './call.ts';
import { errorOf, newNotesClient, startNotes } from './testing/notes.ts';
import {
  closedPort,
  hangUp,
  neverRespond,
  type Responder,
  sendJson,
  sendStatus,
  startApi,
} from './testing/start-api.ts';

const OK = sendJson({ data: [] });
const START_MS = Date.parse('2026-11-22T10:00:00Z');

/** A clock on which only waits take time. */
function newClock() {
  const waits: number[] = [];
  let nowMs = START_MS;
  const sleep = async (ms: number) => {
    waits.push(ms);
    nowMs += ms;
  };
  return { waits, clock: { now: () => nowMs, sleep } };
}

const incomplete: Responder = (res) =>
  res.writeHead(200, { 'content-type': 'application/json' }).write('{', () => res.destroy());

test.each<[string, Responder]>([
  ['429', sendStatus(429)],
  ['502', sendStatus(502)],
  ['503', sendStatus(503)],
  ['504', sendStatus(504)],
  ['a closed connection', hangUp],
  ['an incomplete response', incomplete],
])('%s is followed by another attempt with the same request id', async (_, failure) => {
  const { client, received } = await startNotes(failure, OK);

  const { data } = await client.get('/notes');

  expect(data).toEqual({ data: [] });
  expect(received).toHaveLength(2);
  expect(received[0]?.headers['x-request-id']).toBe(received[1]?.headers['x-request-id']);
});

test.each([400, 401, 404, 409, 412, 422, 500, 501])('%i is final', async (status) => {
  const { client, received } = await startNotes(sendStatus(status));

  await errorOf(client.get('/notes'));

  expect(received).toHaveLength(1);
});

test('with idempotencyKeys, a POST is repeated with the same random Idempotency-Key', async () => {
  const { baseUrl, received } = await startApi(hangUp, sendStatus(503), sendStatus(201));
  const client = newNotesClient({ baseUrl, idempotencyKeys: true });

  await client.post('/notes', { body: { text: 'a' } });
  await client.post('/notes', { body: { text: 'a' } });

  const [first, second, third, next] = received.map(({ headers }) => headers['idempotency-key']);
  expect(first).toMatch(/^[\da-f]{32}$/);
  expect([second, third]).toEqual([first, first]);
  expect(next).not.toBe(first);
  expect(received.map(({ body }) => body)).toEqual(Array(4).fill('{"text":"a"}'));
});

test.each<[string, Responder]>([
  ['a 503', sendStatus(503)],
  ['the end of the connection after the insert', hangUp],
  ['an incomplete response', incomplete],
  ['no response in time', neverRespond],
])('a POST creates one row after %s', async (_, failure) => {
  const { baseUrl, received } = await startApi(failure, sendStatus(201));
  const client = newNotesClient({ baseUrl, attemptMs: 200 });

  await errorOf(client.post('/notes', { body: { text: 'a' } }));

  expect(received.map(({ body }) => body)).toEqual(['{"text":"a"}']);
  expect(received[0]?.headers).not.toHaveProperty('idempotency-key');
});

test('a POST is repeated after a refused connection, and no further once it was sent', async () => {
  const { baseUrl, received } = await startApi(hangUp);
  const closed = await closedPort();
  const ports: string[] = [];
  const client = newNotesClient({
    baseUrl: `http://127.0.0.1:${closed}`,
    intercept: async ({ url }, next) => {
      ports.push(url.port);
      return next().finally(() => {
        url.port = new URL(baseUrl).port;
      });
    },
  });

  const error = await errorOf(client.post('/notes', { body: { text: 'a' } }));

  expect(error).toMatchObject({ reason: 'unreachable' });
  expect(ports).toEqual([closed, new URL(baseUrl).port]);
  expect(received).toHaveLength(1);
});

test.each([
  ['ECONNREFUSED', true],
  ['ENOTFOUND', true],
  ['EAI_AGAIN', true],
  ['UND_ERR_CONNECT_TIMEOUT', true],
  ['ECONNRESET', false],
  ['UND_ERR_SOCKET', false],
  [undefined, false],
])('whether the error %s proves that nothing was sent: %s', (code, expected) => {
  expect(isUnsent(new TypeError('fetch failed', { cause: { code } }))).toBe(expected);
});

test('a POST that an interceptor fails after the response is not repeated', async () => {
  const { baseUrl, received } = await startApi(sendStatus(201));
  const refused = newNotesClient({
    baseUrl: `http://127.0.0.1:${await closedPort()}`,
    attempts: 1,
  });
  const client = newNotesClient({
    baseUrl,
    intercept: async (_, next) => {
      const response = await next();
      await refused.get('/notes');
      return response;
    },
  });

  await errorOf(client.post('/notes', { body: { text: 'a' } }));

  expect(received).toHaveLength(1);
});

test.each([
  [{}, [undefined]],
  [{ 'idempotency-key': 'a' }, ['a', 'a', 'a']],
])('a PATCH with the headers %j is sent with the keys %j', async (headers, keys) => {
  const { client, received } = await startNotes(sendStatus(503));
  const options = { path: { id: '7' }, headers: { 'x-reason': 'test', ...headers }, body: {} };

  await errorOf(client.patch('/notes/{id}', options));

  expect(received.map((one) => one.headers['idempotency-key'])).toEqual(keys);
});

test('a stream is sent once', async () => {
  const { client, received } = await startNotes(sendStatus(503));
  const body = new Blob(['content']).stream();

  await errorOf(client.post('/files', { body }));

  expect(received.map((one) => one.body)).toEqual(['content']);
});

test('waits are random, below a limit that doubles', async () => {
  const { baseUrl } = await startApi(sendStatus(503));
  const { clock, waits } = newClock();
  const client = newNotesClient({ baseUrl, clock, attempts: 5, retryDelayMs: 100 });

  await errorOf(client.get('/notes'));

  expect(waits).toHaveLength(4);
  expect(waits.map((ms, index) => ms < 100 * 2 ** index)).toEqual([true, true, true, true]);
  expect(new Set(waits).size).toBe(4);
});

test.each([
  ['3', 3_000],
  ['Sun, 22 Nov 2026 10:00:04 GMT', 4_000],
  ['Sun, 22 Nov 2026 09:00:00 GMT', 0],
  ['Sunday, 22-Nov-26 10:00:04 GMT', 4_000],
  ['Sun Nov 22 10:00:04 2026', 4_000],
  ['2026-11-22T10:00:04Z', 0],
  ['-5', 0],
  ['soon', 0],
])('the client waits as Retry-After "%s" asks', async (retryAfter, waitMs) => {
  const { baseUrl } = await startApi(sendStatus(429, { 'retry-after': retryAfter }), OK);
  const { clock, waits } = newClock();

  await newNotesClient({ baseUrl, clock }).get('/notes');

  expect(waits).toEqual([waitMs]);
});

test('a Retry-After beyond the deadline fails at once, with the seconds', async () => {
  const { baseUrl, received } = await startApi(sendStatus(503, { 'retry-after': '60' }));
  const { clock, waits } = newClock();

  const error = await errorOf(newNotesClient({ baseUrl, clock }).get('/notes'));

  expect(error).toMatchObject({ status: 503, retryAfterSeconds: 60 });
  expect(waits).toEqual([]);
  expect(received).toHaveLength(1);
});

test('a wait ends when the caller aborts the call', async () => {
  const caller = new AbortController();
  const { client, received } = await startNotes((res) => {
    res.writeHead(503, { 'retry-after': '3' }).end();
    setTimeout(() => caller.abort(new Error('left')), 50);
  });

  const error = await errorOf(client.get('/notes', { signal: caller.signal }));

  expect(error).toEqual(new Error('left'));
  expect(received).toHaveLength(1);
});
