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
