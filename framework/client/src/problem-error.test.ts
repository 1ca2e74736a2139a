import { expect, test } from 'vitest';

import { ProblemError } from './problem-error.ts';
import { errorOf, newNotesClient, startNotes } from './testing/notes.ts';
import {
  hangUp,
  neverRespond,
  type Responder,
  sendJson,
  sendStatus,
  startApi,
} from './testing/start-api.ts';

test('a problem response is an error with its members', async () => {
  const errors = [{ in: 'body', pointer: '/text', detail: 'Expected text' }];
  const problem = {
    status: 400,
    code: 'VALIDATION_FAILED',
    detail: 'No',
    errors,
    requestId: 'r-1',
  };
  const { client } = await startNotes(
    sendJson(problem, { status: 400, type: 'application/problem+json; charset=utf-8' }),
  );

  const error = await errorOf(client.post('/notes', { body: { text: '' } }));

  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({
    name: 'ProblemError',
    message: 'Cannot call notes: it responds with 400: No',
    reason: 'status',
    status: 400,
    code: 'VALIDATION_FAILED',
    detail: 'No',
    errors,
    requestId: 'r-1',
  });
});

test.each<[string, Responder]>([
  ['without a body', sendStatus(404)],
  ['with HTML', (res) => res.writeHead(404, { 'content-type': 'text/html' }).end('<p>')],
  [
    'with invalid JSON',
    (res) => res.writeHead(404, { 'content-type': 'application/json' }).end('{'),
  ],
  ['with null', sendJson(null, { status: 404 })],
  ['with members of other types', sendJson({ detail: 1, code: {}, errors: 'x' }, { status: 404 })],
])('a 404 %s is an error without details', async (_, responder) => {
  const { client } = await startNotes(responder);
  const ctx = { requestId: 'request-1' };

  const error = await errorOf(client.get('/notes', { ctx }));

  expect(error).toMatchObject({
    message: 'Cannot call notes: it responds with 404',
    status: 404,
    code: undefined,
    detail: undefined,
    errors: [],
    requestId: 'request-1',
  });
});

const LONG = JSON.stringify('x'.repeat(2_000));

test.each<[string, Responder, object, number]>([
  ['503 each time', sendStatus(503), { reason: 'status', status: 503 }, 2],
  ['500', sendStatus(500), { reason: 'status', status: 500 }, 1],
  ['a redirect', sendStatus(302, { location: '/' }), { reason: 'status', status: 302 }, 1],
  ['an unexpected 304', sendStatus(304), { reason: 'status', status: 304 }, 1],
  ['HTML', (res) => res.end('<p>'), { reason: 'unreadable', status: 200 }, 1],
  ['JSON of another type', (res) => res.end('{}'), { reason: 'unreadable' }, 1],
  [
    'invalid JSON',
    (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    { reason: 'unreadable' },
    1,
  ],
  ['a body above the limit', (res) => res.end(LONG), { reason: 'unreadable' }, 1],
  ['an endless body', (res) => void res.write('{'), { reason: 'timeout' }, 2],
  ['no response', neverRespond, { reason: 'timeout' }, 2],
  [
    'closed connections',
    hangUp,
    { reason: 'unreachable', status: undefined, cause: expect.any(Error) },
    2,
  ],
])('%s is an error with the reason', async (_, responder, expected, count) => {
  const { baseUrl, received } = await startApi(responder);
  const client = newNotesClient({ baseUrl, attempts: 2, attemptMs: 200, limitBytes: 1_000 });

  const error = await errorOf(client.get('/notes'));

  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject(expected);
  expect(received).toHaveLength(count);
});

test('the deadline of a call includes all attempts', async () => {
  const { baseUrl } = await startApi(neverRespond);
  const client = newNotesClient({ baseUrl, attempts: 100 });

  const error = await errorOf(client.get('/notes', { deadlineMs: 50 }));

  expect(error).toMatchObject({ reason: 'timeout' });
  expect(String(error)).toMatch(/no response in 50 ms$/);
});

test('the deadline of a call includes its interceptor, which cannot send a request later', async () => {
  const { baseUrl, received } = await startApi(sendJson({ data: [] }));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  const client = newNotesClient({
    baseUrl,
    intercept: async (_, next) => {
      await released;
      next().catch(late.resolve);
      return await next();
    },
  });

  const error = await errorOf(client.get('/notes', { deadlineMs: 50 }));
  release();

  expect(error).toMatchObject({ reason: 'timeout' });
  expect(String(error)).toMatch(/no response in 50 ms$/);
  expect(await late.promise).toMatchObject({ reason: 'timeout' });
  expect(received).toEqual([]);
});

test('an interceptor can replace a time-out by a response', async () => {
  const { baseUrl } = await startApi(neverRespond);
  const headers = new Headers({ 'Content-Type': 'application/json' });
  const client = newNotesClient({
    baseUrl,
    deadlineMs: 50,
    intercept: (_, next) => next().catch(() => ({ status: 200, headers, text: '{"data":[]}' })),
  });

  expect(await client.get('/notes')).toMatchObject({ status: 200, data: { data: [] } });
});

test('a time-out after other attempts names the attempt', async () => {
  const { baseUrl } = await startApi(neverRespond);
  const client = newNotesClient({ baseUrl, attempts: 3, attemptMs: 20, retryDelayMs: 0 });

  expect(String(await errorOf(client.get('/notes')))).toMatch(
    /no response in 20 ms \(attempt 3\)$/,
  );
});
