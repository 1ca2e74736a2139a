import { expect, test } from 'vitest';

import { createEtagCache } from './etag-cache.ts';
import { newNotesClient, startNotes } from './testing/notes.ts';
import { type Responder, sendJson, startApi } from './testing/start-api.ts';

/** Sends the URL, or 304 if the client has the current ETag. */
const sendUrl: Responder = (res, received) => {
  if (received.headers['if-none-match'] === '"1"') res.writeHead(304, { ETag: '"1"' }).end();
  else sendJson({ data: [{ id: received.url, text: '' }] }, { ETag: '"1"' })(res, received);
};

test('a second read is conditional, and a 304 returns the stored body', async () => {
  const { client, received } = await startNotes(sendUrl);

  const first = await client.get('/notes');
  const second = await client.get('/notes');

  expect(received.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
  expect(second).toMatchObject({ status: 200, data: first.data, etag: '"1"' });
  expect(second.data).not.toBe(first.data);
});

/** The headers of a second read, which the server confirms with these; and the conditions of three reads. */
async function headersAfter304(headers: Readonly<Record<string, string | string[]>>) {
  const sendNotes = sendJson({ data: [] }, { ETag: '"1"', 'X-Old': 'a', 'X-Both': 'a' });
  const { client, received } = await startNotes((res, request) => {
    if (request.headers['if-none-match'] === undefined) sendNotes(res, request);
    else res.writeHead(304, headers).end();
  });
  await client.get('/notes');
  const second = await client.get('/notes');
  await client.get('/notes');
  expect(second).toMatchObject({ status: 200, data: { data: [] } });
  return { headers: second.headers, tags: received.map((one) => one.headers['if-none-match']) };
}

test('a 304 updates the headers of the stored response', async () => {
  const { headers } = await headersAfter304({
    'Cache-Control': 'no-cache',
    Deprecation: '@1767225600',
    'X-Both': 'b',
    'Set-Cookie': ['a=1', 'b=2'],
  });

  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-cache',
    deprecation: '@1767225600',
    etag: '"1"',
    'x-old': 'a',
    'x-both': 'b',
  });
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
});

test('a 304 does not update headers of the connection, and those that describe the body', async () => {
  const { headers } = await headersAfter304({
    'Content-Type': 'text/plain',
    'Content-Encoding': 'br',
    'Content-Length': '7',
    'Content-Range': 'bytes 0-1/7',
    'Proxy-Authenticate': 'Basic',
    Connection: 'close, X-Hop',
    'X-Hop': '1',
  });

  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('connection')).toBe('keep-alive');
  const names = ['content-encoding', 'content-range', 'proxy-authenticate', 'x-hop'];
  expect(names.filter((name) => headers.has(name))).toEqual([]);
});

test.each([
  ['W/"1"', 'b', 'W/"1"'],
  ['"2"', 'a', '"1"'], // it does not confirm the stored response
])('after a 304 with the ETag %s, a header is %s', async (ETag, value, tag) => {
  const { headers, tags } = await headersAfter304({ ETag, 'X-Both': 'b' });

  expect(headers.get('x-both')).toBe(value);
  expect(tags).toEqual([undefined, '"1"', tag]);
});

test('after a 304 with no-store, the next read is not conditional', async () => {
  const { tags } = await headersAfter304({ 'Cache-Control': 'no-store' });

  expect(tags).toEqual([undefined, '"1"', undefined]);
});

test('a changed resource replaces the stored response', async () => {
  const { client, received } = await startNotes(
    sendJson({ data: ['old'] }, { ETag: '"1"' }),
    sendJson({ data: ['new'] }, { ETag: '"2"' }),
  );

  await client.get('/notes');
  const changed = await client.get('/notes');
  await client.get('/notes');

  expect(changed.data).toEqual({ data: ['new'] });
  expect(received[2]?.headers['if-none-match']).toBe('"2"');
});

test.each<[string, object, object]>([
  ['another query', { query: { limit: 1 } }, { query: { limit: 2 } }],
  ['another user', { headers: { authorization: 'a' } }, { headers: { authorization: 'b' } }],
])('%s has a stored response of its own', async (_, one, other) => {
  const { client, received } = await startNotes(sendUrl);

  await client.get('/notes', one);
  await client.get('/notes', other);

  expect(received[1]?.headers).not.toHaveProperty('if-none-match');
});

test('a response is stored for the headers that the interceptor sets', async () => {
  const { baseUrl, received } = await startApi(sendUrl);
  const users = ['ada', 'eve', 'ada'];
  const client = newNotesClient({
    baseUrl,
    intercept({ headers }, next) {
      headers.set('authorization', users.shift() ?? '');
      return next();
    },
  });

  for (let count = 0; count < 3; count++) await client.get('/notes');

  const etags = received.map(({ headers }) => headers['if-none-match']);
  expect(etags).toEqual([undefined, undefined, '"1"']);
});

test.each<[string, Responder, object]>([
  ['no ETag', sendJson({}), {}],
  ['no-store', sendJson({}, { ETag: '"1"', 'Cache-Control': 'private, no-store' }), {}],
  ['a cache of 0 bytes', sendUrl, { cacheBytes: 0 }],
])('with %s the next read is not conditional', async (_, responder, options) => {
  const { baseUrl, received } = await startApi(responder);
  const client = newNotesClient({ baseUrl, ...options });

  await client.get('/notes');
  await client.get('/notes');

  expect(received[1]?.headers).not.toHaveProperty('if-none-match');
});

/** A response of about a thousand bytes. */
function newResponse() {
  return { status: 200, headers: new Headers({ ETag: '"1"' }), text: 'x'.repeat(240) };
}

test('a full cache evicts the least recently used responses', () => {
  const cache = createEtagCache(3_500);

  for (const key of ['a', 'b', 'c']) cache.store(key, newResponse());
  cache.find('a');
  cache.store('d', newResponse());

  const stored = ['a', 'b', 'c', 'd'].filter((key) => cache.find(key));
  expect(stored).toEqual(['a', 'c', 'd']);
});

test('a response larger than the cache evicts nothing', () => {
  const cache = createEtagCache(1_500);
  cache.store('a', newResponse());

  cache.store('b', { ...newResponse(), text: 'x'.repeat(10_000) });

  expect(cache.find('a')).toBeDefined();
  expect(cache.find('b')).toBeUndefined();
});
