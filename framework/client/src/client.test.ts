import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, expectTypeOf, test, vi } from 'vitest';

import { createClient } from './client.ts';
import { errorOf, newNotesClient, startNotes } from './testing/notes.ts';
import { sendJson, sendStatus, startApi } from './testing/start-api.ts';

const NOTE = { data: { id: '7', text: 'Buy milk' } };

/** An API with parameters of any type, and a client of it. */
async function startValues() {
  const { baseUrl, received } = await startApi(sendJson({}));
  type Values = Record<string, unknown>;
  type Parameters = { path: Values; query?: Values; header?: Values };
  type Paths = { '/values/{id}': { get: { parameters: Parameters } } };
  return { client: createClient<Paths>({ baseUrl }), received };
}

test('get returns the JSON body, the status and the ETag', async () => {
  const { client } = await startNotes(sendJson(NOTE, { ETag: '"1"' }));

  const response = await client.get('/notes/{id}', { path: { id: '7' } });

  expect(response).toMatchObject({ data: NOTE, status: 200, etag: '"1"' });
  expect(response.headers.get('content-type')).toBe('application/json');
});

test('paths are appended to the base URL, with encoded parameters', async () => {
  const { baseUrl, received } = await startApi(sendJson(NOTE));
  const client = newNotesClient({ baseUrl: `${baseUrl}/base/` });

  await client.get('/notes/{id}', { path: { id: 'a/b?c' } });
  await client.get('/notes', { query: { tags: ['x', 'y&z'], limit: 2 } });
  await client.get('/notes');

  expect(received.map(({ url }) => url)).toEqual([
    '/base/notes/a%2Fb%3Fc',
    '/base/notes?tags=x&tags=y%26z&limit=2',
    '/base/notes',
  ]);
});

test.each(['', '.', '..'])('the path parameter "%s" is rejected', async (id) => {
  const { client, received } = await startNotes(sendJson(NOTE));

  const error = await errorOf(client.get('/notes/{id}', { path: { id } }));

  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain(`Cannot call /notes/{id} with id "${id}"`);
  expect(received).toEqual([]);
});

test('null and undefined are not sent, and other values as in JSON, in each kind of parameter', async () => {
  const { client, received } = await startValues();
  const date = new Date('2026-11-22T10:00:00Z');
  const values = { a: null, b: undefined, c: [], d: [null, 1], e: false, f: 2n, g: date, h: '' };

  await client.get('/values/{id}', { path: { id: [1, 'a,b'] }, query: values, headers: values });
  await client.get('/values/{id}', { path: { id: date } });

  expect(received.map(({ url }) => url)).toEqual([
    '/values/1,a%2Cb?d=1&e=false&f=2&g=2026-11-22T10%3A00%3A00.000Z&h=',
    '/values/2026-11-22T10%3A00%3A00.000Z',
  ]);
  const { headers } = received[0]!;
  expect(Object.keys(values).map((name) => headers[name])).toEqual([
    ...[undefined, undefined, undefined, '1', 'false', '2', '2026-11-22T10:00:00.000Z', ''],
  ]);
});

const UNSENDABLE: readonly unknown[] = [
  { gte: 1 },
  Object.create(null),
  new Map(),
  [[1]],
  [{ id: 1 }],
  Number.NaN,
  Number.POSITIVE_INFINITY,
  new Date(Number.NaN),
  Symbol('x'),
  () => 1,
  '\ud800',
];

test.each(['path', 'query', 'headers'])(
  'a value of %s without a text is a TypeError that names the parameter',
  async (kind) => {
    const { client, received } = await startValues();

    for (const value of UNSENDABLE) {
      const options = { path: { id: '7' }, [kind]: { id: value } };
      const error = await errorOf(client.get('/values/{id}', options));

      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toMatch(
        /^TypeError: Cannot send .+ as id of \/values\/\{id\}: expected text, a finite number, /,
      );
    }
    expect(received).toEqual([]);
  },
);

test.each(['a\nb', 'a\0b', '漢'])(
  'a header with %j is a TypeError that names it, also in the options of the client',
  async (value) => {
    const { baseUrl, received } = await startApi(sendJson({ data: [] }));
    const headers = { 'x-name': value };

    const ofCall = await errorOf(newNotesClient({ baseUrl }).get('/notes', { headers }));
    const ofClient = await errorOf(newNotesClient({ baseUrl, headers }).get('/notes'));

    for (const error of [ofCall, ofClient]) {
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toBe(
        'TypeError: Cannot send x-name of /notes: expected the text of a header',
      );
    }
    expect(received).toEqual([]);
  },
);

test('a body is sent as JSON, with the content type that the caller sets', async () => {
  const { client, received } = await startNotes(sendJson(NOTE));

  await client.post('/notes', { body: { text: 'ä' } });
  await client.patch('/notes/{id}', {
    path: { id: '7' },
    headers: { 'content-type': 'application/merge-patch+json', 'x-reason': 'typo' },
    body: { text: 'ö' },
    ifMatch: '"1"',
  });

  expect(received[0]).toMatchObject({ method: 'POST', body: '{"text":"ä"}' });
  expect(received[0]?.headers['content-type']).toBe('application/json');
  expect(received[1]?.headers).toMatchObject({
    'content-type': 'application/merge-patch+json',
    'if-match': '"1"',
  });
});

test('a form is sent unchanged', async () => {
  const { client, received } = await startNotes(sendStatus(201));
  const form = new FormData();
  form.set('file', new Blob(['content']), 'a.txt');

  const { data } = await client.post('/files', { body: form });

  expect(data).toBeUndefined();
  expect(received[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  expect(received[0]?.body).toContain('filename="a.txt"');
});

test('a response without a body has no data', async () => {
  const { client } = await startNotes(sendStatus(204), sendJson(NOTE));

  const deleted = await client.delete('/notes/{id}', { path: { id: '7' } });
  const head = await client.head('/notes/{id}', { path: { id: '7' } });

  expect([deleted.status, deleted.data]).toEqual([204, undefined]);
  expect([head.status, head.data]).toEqual([200, undefined]);
});

test('every request has the headers of the client, overridden by those of the call', async () => {
  const { baseUrl, received } = await startApi(sendJson({ data: [] }));
  const client = newNotesClient({ baseUrl, headers: { 'User-Agent': 'tests', 'X-A': '1' } });

  await client.get('/notes', { headers: { 'x-a': '2' } });

  expect(received[0]?.headers).toMatchObject({
    'user-agent': 'tests',
    'x-a': '2',
    accept: 'application/json',
  });
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test.each([
  ['a valid trace', TRACE, { traceparent: TRACE, tracestate: 'a=b' }],
  ['no invalid trace', TRACE.replace(/-.{32}-/, `-${'0'.repeat(32)}-`), {}],
])(
  'the id and %s of the incoming request are sent, and no other header of it',
  async (_, traceparent, trace) => {
    const { client, received } = await startNotes(sendJson({ data: [] }));
    const headers: Readonly<Record<string, string>> = {
      traceparent,
      tracestate: 'a=b',
      authorization: 'Bearer x',
      cookie: 'y',
    };

    await client.get('/notes', { ctx: { requestId: 'request-1', get: (name) => headers[name] } });

    const names = ['x-request-id', ...Object.keys(headers)];
    const sent = names.map((name) => [name, received[0]?.headers[name]]);
    expect(Object.fromEntries(sent)).toEqual({ 'x-request-id': 'request-1', ...trace });
  },
);

test('a call without an incoming request has a random request id', async () => {
  const { client, received } = await startNotes(sendJson({ data: [] }));

  await client.get('/notes');
  await client.get('/notes');

  const ids = received.map(({ headers }) => headers['x-request-id']);
  expect(ids[0]).toMatch(/^[\da-f]{32}$/);
  expect(ids[0]).not.toBe(ids[1]);
});

test('a call is aborted and not repeated when its caller aborts it', async () => {
  const caller = new AbortController();
  const { client, received } = await startNotes(() => caller.abort(new Error('left')));

  const byContext = await errorOf(client.get('/notes', { ctx: { signal: caller.signal } }));
  const bySignal = await errorOf(client.get('/notes', { signal: caller.signal }));

  expect(byContext).toEqual(new Error('left'));
  expect(bySignal).toEqual(new Error('left'));
  expect(received).toHaveLength(1);
});

test('a call that has ended leaves nothing in memory, and no listener on the signal of its caller', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const { client } = await startNotes(sendJson(NOTE));
  const longLived = new AbortController().signal;
  const contexts: WeakRef<object>[] = [];

  for (let count = 0; count < 5; count++) {
    const ctx = { signal: new AbortController().signal };
    await client.get('/notes', { ctx, signal: longLived });
    contexts.push(new WeakRef(ctx));
  }

  expect(getEventListeners(longLived, 'abort')).toEqual([]);
  await vi.waitFor(() => {
    collectGarbage();
    // The last call may still be on the stack.
    expect(contexts.slice(0, -1).filter((ctx) => ctx.deref())).toEqual([]);
  });
});

test('an interceptor runs around every attempt, and can replace the response', async () => {
  const { baseUrl, received } = await startApi(sendStatus(503), sendJson({ data: [] }));
  const statuses: number[] = [];
  const client = newNotesClient({
    baseUrl,
    intercept: async ({ headers, requestId }, next) => {
      headers.set('x-attempt', `${requestId} ${statuses.length}`);
      const response = await next();
      statuses.push(response.status);
      return { ...response, text: '{"data":[{"id":"1"}]}' };
    },
  });

  const { data } = await client.get('/notes', { ctx: { requestId: 'a' } });

  expect(statuses).toEqual([503, 200]);
  expect(received.map(({ headers }) => headers['x-attempt'])).toEqual(['a 0', 'a 1']);
  expect(data).toEqual({ data: [{ id: '1' }] });
});

describe('the types of a client', () => {
  /** The compiler checks these calls; they are never made. */
  const client = newNotesClient({ baseUrl: 'http://localhost' });
  const path = { id: '7' };

  test('the data of a response has the documented type', () => {
    const read = () => client.get('/notes/{id}', { path });
    const remove = () => client.delete('/notes/{id}', { path });
    const create = () => client.post('/notes', { body: { text: '' } });

    expectTypeOf(read)
      .returns.resolves.toHaveProperty('data')
      .toEqualTypeOf<{ readonly data: { readonly id: string; readonly text: string } }>();
    expectTypeOf(remove).returns.resolves.toHaveProperty('data').toEqualTypeOf<undefined>();
    expectTypeOf(create).returns.resolves.toHaveProperty('data').toHaveProperty('data');
  });

  test('only documented calls compile', () => {
    const calls = [
      () => client.get('/notes'),
      () => client.get('/notes', { query: { order: 'newest' } }),
      () => client.put('/notes/{id}', { path }),
      () => client.put('/notes/{id}', { path, body: { text: '' } }),
      () => client.post('/files', { body: new FormData() }),
      () => client.patch('/notes/{id}', { path, headers: { 'x-reason': 'a', 'x-b': 1 }, body: {} }),
      // @ts-expect-error the path is not documented
      () => client.get('/note'),
      // @ts-expect-error the method is not documented for the path
      () => client.put('/notes', {}),
      // @ts-expect-error a path parameter is missing
      () => client.get('/notes/{id}'),
      // @ts-expect-error a path parameter has another name
      () => client.get('/notes/{id}', { path: { name: '' } }),
      // @ts-expect-error a query parameter has another type
      () => client.get('/notes', { query: { limit: '1' } }),
      // @ts-expect-error a query parameter has another value
      () => client.get('/notes', { query: { order: 'random' } }),
      // @ts-expect-error the body is missing
      () => client.post('/notes', {}),
      // @ts-expect-error a field of the body has another type
      () => client.post('/notes', { body: { text: 1 } }),
      // @ts-expect-error the operation has no body
      () => client.get('/notes', { body: {} }),
      // @ts-expect-error a required header is missing
      () => client.patch('/notes/{id}', { path, body: {} }),
    ];

    expectTypeOf(calls).toBeArray();
  });
});
