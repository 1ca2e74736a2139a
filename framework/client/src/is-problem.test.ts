import { describe, expect, expectTypeOf, test } from 'vitest';

import { createClient } from './client.ts';
import { ProblemError } from './problem-error.ts';
import { errorOf } from './testing/notes.ts';
import { hangUp, type Responder, sendJson, sendStatus, startApi } from './testing/start-api.ts';

interface Problem {
  code: string;
  detail: string;
}

interface Failed<Body> {
  content: { 'application/problem+json': Body };
}

/** In the form of openapi-typescript. */
interface paths {
  '/users': {
    get?: never;
    post: {
      requestBody: { content: { 'application/json': { email: string } } };
      responses: {
        201: { content?: never };
        400: Failed<Problem & { code?: 'BAD_REQUEST' | 'VALIDATION_FAILED' }>;
        409: Failed<
          | (Problem & { code?: 'KEY_IN_USE' })
          | (Problem & { code?: 'EMAIL_TAKEN'; email: string; tries?: number })
        >;
      };
    };
  };
  '/events': {
    get: {
      responses: { 200: { content: { 'text/event-stream': { event: 'added'; data: string } } } };
    };
  };
  '/users/{id}': {
    delete: {
      parameters: { path: { id: string } };
      responses: { 204: { content?: never }; 404: Failed<Problem & { code?: 'NOT_FOUND' }> };
    };
  };
}

const EMAIL_TAKEN = { code: 'EMAIL_TAKEN', detail: 'No', email: 'a@example.com', tries: 2 };

async function startUsers(responder: Responder) {
  const { baseUrl } = await startApi(responder);
  const client = createClient<paths>({ baseUrl, attempts: 1 });
  return { client, error: await errorOf(client.post('/users', { body: { email: 'a' } })) };
}

describe('isProblem', () => {
  test('gives the code and the extension members of an error response', async () => {
    const { client, error } = await startUsers(sendJson(EMAIL_TAKEN, { status: 409 }));

    if (!client.isProblem(error) || error.code !== 'EMAIL_TAKEN') throw error;

    expect(error.problem).toEqual(EMAIL_TAKEN);
    expect(error.problem.email).toBe('a@example.com');
  });

  test('is true for a code that the document does not have', async () => {
    const { client, error } = await startUsers(sendJson({ code: 'NEW' }, { status: 400 }));

    expect(client.isProblem(error)).toBe(true);
  });

  test('is true for an error response to a stream', async () => {
    const { baseUrl } = await startApi(sendJson({ code: 'FORBIDDEN' }, { status: 403 }));
    const client = createClient<paths>({ baseUrl });

    const error = await errorOf(client.stream('/events').next());

    expect(client.isProblem(error)).toBe(true);
  });

  test('is false for an error response to another client, with the same code', async () => {
    const users = await startUsers(sendJson(EMAIL_TAKEN, { status: 409 }));
    const others = await startUsers(sendJson(EMAIL_TAKEN, { status: 409 }));

    expect(users.client.isProblem(others.error)).toBe(false);
    expect(others.client.isProblem(others.error)).toBe(true);
  });

  test.each<[string, Responder]>([
    ['an error response without a problem', sendStatus(500)],
    ['an error response whose code is no text', sendJson({ code: 7 }, { status: 400 })],
    ['a lost connection', hangUp],
    ['a response that is not JSON', (res) => res.end('{')],
  ])('is false for %s', async (_, responder) => {
    const { client, error } = await startUsers(responder);

    expect(error).toBeInstanceOf(ProblemError);
    expect(client.isProblem(error)).toBe(false);
  });

  test.each([undefined, null, 'EMAIL_TAKEN', EMAIL_TAKEN, new TypeError('No')])(
    'is false for %s',
    async (error) => {
      expect(createClient<paths>({ baseUrl: 'http://localhost' }).isProblem(error)).toBe(false);
    },
  );
});

describe('the types of a problem', () => {
  const client = createClient<paths>({ baseUrl: 'http://localhost' });

  test('are selected by the code', () => {
    const read = (error: unknown) => {
      if (!client.isProblem(error)) return;
      expectTypeOf(error.code).toEqualTypeOf<
        'BAD_REQUEST' | 'VALIDATION_FAILED' | 'KEY_IN_USE' | 'EMAIL_TAKEN' | 'NOT_FOUND'
      >();
      switch (error.code) {
        case 'EMAIL_TAKEN':
          expectTypeOf(error.problem.email).toEqualTypeOf<string>();
          expectTypeOf(error.problem.tries).toEqualTypeOf<number | undefined>();
          break;
        case 'KEY_IN_USE':
          expectTypeOf(error.problem.email).toEqualTypeOf<unknown>();
          break;
        // @ts-expect-error no operation documents this code
        case 'EMAIL_TAKN':
          break;
        default:
          expectTypeOf(error.retryAfterSeconds).toEqualTypeOf<number | undefined>();
      }
    };

    expectTypeOf(read).returns.toEqualTypeOf<void>();
  });

  test('are those of ProblemError if the document has no problems', () => {
    const undocumented = createClient<{ '/': { get: { responses: { 200: object } } } }>({
      baseUrl: 'http://localhost',
    });

    expectTypeOf(undocumented.isProblem).guards.toEqualTypeOf<ProblemError>();
  });
});
