import { ConflictError, createApp, HttpError, NotFoundError } from '@fw/core';
import { errorCodes, violationOf } from '@fw/core/extension';
import { recordLog, request } from '@fw/core/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

import type { Context, Middleware } from '../context.ts';
import { problemOf } from '../response/problem.ts';
import { endpoint } from './endpoint.ts';
import type { CodesByStatus } from './response-types.ts';
import { createRouter } from './router.ts';

const Taken = z.object({ email: z.string(), tries: z.number().optional() });
const create = endpoint({
  errors: { 409: { EMAIL_TAKEN: Taken, KEY_IN_USE: true }, 412: ['VERSION_CONFLICT', 'LOCKED'] },
}) as Middleware;

type Declared = Context<{ errors: Record<string, Partial<Record<'email', string>>> }>;

/** Sends a request to a route that declares errors, with a handler that fails. */
async function failWith(
  fail: (ctx: Declared) => unknown,
  { layers = [create], method = 'POST', path = '/users' } = {},
) {
  const { logger, problems, errors } = recordLog();
  const app = createApp({ logger });
  const violations: unknown[] = [];
  app.use(async (ctx, next) => {
    await next().finally(() => violations.push(violationOf(ctx)));
  });
  const router = createRouter().route(method, path, ...layers, fail as never);
  app.use(router.routes());
  const send = () => request(app, path.replace(':id', '7'), { method });
  const response = await send();
  const problem = JSON.parse((await response.text()) || '{}');
  return { response, problem, problems, errors, violations, send };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('ctx.fail', () => {
  test('sends the declared status, code and members, and the detail', async () => {
    const { problem } = await failWith((ctx) =>
      ctx.fail('EMAIL_TAKEN', { email: 'a@example.com', detail: 'Another user has it' }),
    );

    expect(problem).toEqual({
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: 'Another user has it',
      code: 'EMAIL_TAKEN',
      requestId: expect.any(String),
      email: 'a@example.com',
    });
  });

  test.each([
    ['KEY_IN_USE', 409, 'Conflict'],
    ['VERSION_CONFLICT', 412, 'Precondition Failed'],
    ['LOCKED', 412, 'Precondition Failed'],
  ])('sends %s with the title of its status as the detail', async (code, status, detail) => {
    const { problem } = await failWith((ctx) => ctx.fail(code));

    expect(problem).toMatchObject({ code, status, detail });
  });

  test('works in a guard after endpoint(), and with the errors of a group', async () => {
    const group = endpoint({ errors: { 423: 'FROZEN' } });
    const guard = ((ctx: Declared) => ctx.fail('FROZEN')) as never;

    const { problem } = await failWith(() => {}, { layers: [group as Middleware, create, guard] });

    expect(problem).toMatchObject({ status: 423, code: 'FROZEN' });
  });

  test.each([
    ['UNKNOWN', [create]],
    ['constructor', [create]],
    ['EMAIL_TAKEN', []],
  ])('is a 500 for %s, which the route does not declare', async (code, layers) => {
    const { response, errors } = await failWith((ctx) => ctx.fail(code), { layers });

    expect(response.status).toBe(500);
    expect(errors.join()).toContain(
      `POST /users cannot fail with "${code}": endpoint() does not declare it`,
    );
  });

  test('of an undeclared code names the pattern of the route, outside of a route the path', async () => {
    const fail = (ctx: Context) => ctx.fail('UNKNOWN' as never);
    const { logger, errors } = recordLog();
    const inRoute = createRouter().get('/users/:id', fail);

    await request(createApp({ logger }).use(inRoute.routes()), '/users/7');
    await request(createApp({ logger }).use(fail), '/users/7');

    expect(errors.map(String)).toEqual(
      ['/users/:id', '/users/7'].map(
        (path) =>
          `TypeError: GET ${path} cannot fail with "UNKNOWN": endpoint() does not declare it`,
      ),
    );
  });
});

describe.each<[string, (ctx: Declared, code: string, members?: object) => never]>([
  ['ctx.fail()', (ctx, code, members) => ctx.fail(code, members as never)],
  [
    'a thrown error',
    (_ctx, code, members = {}) => {
      throw new ConflictError('No', { code, members: { ...members } });
    },
  ],
])('the members of %s', (_way, fail) => {
  test.each([
    ['a field that the schema lacks', 'EMAIL_TAKEN', { email: 'a', passwordHash: 'x' }],
    ['a field of a code without members', 'KEY_IN_USE', { passwordHash: 'x' }],
    ['a replaced status', 'KEY_IN_USE', { status: 200, code: 'OTHER', requestId: 'x' }],
  ])('do not contain %s', async (_, code, members) => {
    const { problem } = await failWith((ctx) => fail(ctx, code, members));

    expect(problem).toMatchObject({ status: 409, code });
    expect(problem).not.toHaveProperty('passwordHash');
    expect(problem.requestId).not.toBe('x');
  });

  test('must be complete: else a 500, in production the problem and one log entry', async () => {
    const incomplete = (ctx: Declared) => fail(ctx, 'EMAIL_TAKEN');

    const { response, errors } = await failWith(incomplete);
    vi.stubEnv('NODE_ENV', 'production');
    const production = await failWith(incomplete);
    await production.send();

    const text = 'Response 409 of POST /users breaks its contract: "/email" is missing';
    expect(response.status).toBe(500);
    expect(errors.join()).toContain(text);
    expect(production.problem).toMatchObject({ status: 409, code: 'EMAIL_TAKEN' });
    expect(production.problems).toEqual([expect.stringContaining(text)]);
  });
});

/** Errors of a handler whose route declares EMAIL_TAKEN, KEY_IN_USE, VERSION_CONFLICT and LOCKED. */
test.each<[string, number, string, () => Error]>([
  ['another code', 409, 'OTHER', () => new HttpError(409, 'No', { code: 'OTHER' })],
  ['the default code of a declared status', 409, 'CONFLICT', () => new HttpError(409)],
  ['a code of another status', 400, 'LOCKED', () => new HttpError(400, 'x', { code: 'LOCKED' })],
  ['an undeclared status', 404, 'NOT_FOUND', () => new NotFoundError()],
])(
  'a handler that throws %s gets 500; in production it is sent, recorded, and logged once',
  async (_, status, code, error) => {
    const throws = () => {
      throw error();
    };
    const text = `Response ${status} of POST /users breaks its contract: "/code" is "${code}", which the route does not declare; add it to endpoint({ errors: { ${status}: … } })`;

    for (const fail of [throws, async () => throws()]) {
      const { response, errors } = await failWith(fail);
      expect(response.status).toBe(500);
      expect(errors.join()).toContain(text);
      expect(errors).toMatchObject([{ cause: error() }]);
    }
    vi.stubEnv('NODE_ENV', 'production');
    const { problem, problems, violations, send } = await failWith(throws);
    await send();

    expect(problem).toMatchObject({ status, code });
    expect(violations).toMatchObject([
      { status, code },
      { status, code },
    ]);
    expect(problems).toEqual([expect.stringContaining(text)]);
  },
);

const rejectsWith = (error: Error) => (() => Promise.reject(error)) as Middleware;

test.each<[string, number, readonly Middleware[], Middleware]>([
  ['a declared code', 412, [create], rejectsWith(new HttpError(412, 'No', { code: 'LOCKED' }))],
  [
    'a declared code in another class, whose members are its own',
    409,
    [create],
    rejectsWith(Object.assign(new Error('No'), { status: 409, expose: true, code: 'EMAIL_TAKEN' })),
  ],
  ['an error without a status', 500, [create], rejectsWith(new Error('No'))],
  ['a middleware', 403, [create, rejectsWith(new HttpError(403))], () => {}],
  [
    'a route without declared errors',
    418,
    [endpoint({ responses: { 204: {} } }) as Middleware],
    rejectsWith(new HttpError(418)),
  ],
])('the error of %s is not reported', async (_, status, layers, handler) => {
  const { response, violations } = await failWith(handler as never, { layers: [...layers] });

  expect(response.status).toBe(status);
  expect(violations).toEqual([undefined]);
});

test('an endless number of codes is logged at most 100 times', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  let count = 0;
  const { problems, send } = await failWith(() => {
    throw new HttpError(409, 'No', { code: `CODE_${count++}` });
  });

  for (let at = 0; at < 150; at++) await send();

  expect(problems).toHaveLength(100);
});

const errors = (status: number, ...codes: string[]) => codes.map((code) => ({ status, code }));
const POST = { method: 'POST', hasParams: false };
const OF_PARAMS = { 400: ['BAD_REQUEST'], 404: ['NOT_FOUND'] };
const OF_BODY = {
  400: ['BAD_REQUEST'],
  413: ['PAYLOAD_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
};

test.each<[string, object, object, { method: string; hasParams: boolean }?]>([
  ['of 405 and 500', {}, {}],
  ['that are declared', { errors: errors(409, 'A', 'B') }, { 409: ['A', 'B'] }],
  ['of a described status', { responses: { 403: {} } }, { 403: ['FORBIDDEN'] }],
  ['of a described 400', { responses: { 400: {} } }, { 400: ['BAD_REQUEST'] }],
  [
    'of a described status that has its own',
    { responses: { 409: {}, 200: {} }, errors: errors(409, 'A') },
    { 409: ['A'] },
  ],
  [
    'of 400 and 5xx, which the server may always send',
    { errors: [...errors(400, 'A'), ...errors(503, 'B')] },
    { 400: ['BAD_REQUEST', 'A'], 503: ['SERVICE_UNAVAILABLE', 'B'] },
  ],
  ['of validation', { validation: { status: 422 }, errors: errors(422, 'V') }, { 422: ['V'] }],
  ['of a validated query', { validation: { query: {} } }, { 400: ['BAD_REQUEST'] }],
  ['of a guard', { security: [{ bearer: [] }] }, { 401: ['UNAUTHORIZED'] }],
  ['of no guard if authentication is optional', { security: [{}] }, {}],
  ['of no guard if it is public', { security: [{ b: [] }], endpoint: { security: [] } }, {}],
  ['of a rate limit', { rateLimit: [{}] }, { 429: ['RATE_LIMITED'] }],
  ['of no parser for GET', { body: { errors: errors(400, 'INVALID_JSON') } }, {}],
  ['of no body for POST without a parser', {}, {}, POST],
  ['of a body that is validated for any method', { validation: { body: {} } }, OF_BODY],
  ['of parameters', {}, OF_PARAMS, { method: 'GET', hasParams: true }],
  ['of a body that is read as a stream', { endpoint: { bodyTypes: ['text/csv'] } }, OF_BODY, POST],
  [
    'of a body parser and of parameters',
    { body: { errors: errors(400, 'INVALID_JSON') } },
    {
      400: ['BAD_REQUEST', 'INVALID_JSON'],
      404: ['NOT_FOUND'],
      413: ['PAYLOAD_TOO_LARGE'],
      415: ['UNSUPPORTED_MEDIA_TYPE'],
    },
    { method: 'PUT', hasParams: true },
  ],
])(
  'a route has the codes %s',
  (_, metadata, expected, route = { method: 'GET', hasParams: false }) => {
    const codes = [...errorCodes(route, metadata)].map(([status, of]) => [status, [...of.keys()]]);

    const always = { 405: ['METHOD_NOT_ALLOWED'], 500: ['INTERNAL_ERROR'] };
    expect(Object.fromEntries(codes)).toEqual({ ...always, ...expected });
  },
);

test.each<[object, string]>([
  [{ 200: 'A' }, 'errors "200" of endpoint(): expected a status from 400 to 599'],
  ...['600', '4XX', '4090', '1409'].map((status): [object, string] => [
    { [status]: 'A' },
    `errors "${status}" of endpoint(): expected a status from 400 to 599`,
  ]),
  ...['emailTaken', 'emailTAKEN', 'EMAILtaken', 'EMAIL-TAKEN', [''], [7]].map(
    (code): [object, string] => [
      { 409: code },
      `errors.409 "${code}" of endpoint(): expected upper-case codes`,
    ],
  ),
  [{ 409: { __proto__: null, A: 'x' } }, 'errors.409.A "x" of endpoint(): expected true, or a'],
  [{ 409: { A: false } }, 'errors.409.A "false" of endpoint(): expected true, or a schema'],
  [{ 503: { A: Taken } }, 'expected true: a 5xx has no extension members'],
])('endpoint({ errors: %o }) is rejected', (errors, message) => {
  const declare = () => endpoint({ errors: errors as never });

  expect(declare).toThrow(TypeError);
  expect(declare).toThrow(message);
});

const withSchema = (schema: z.ZodType) => ({ 409: { A: schema } });
const A = z.object({ a: z.string() });
const NO_OBJECT = 'the schema of error 409 A must be that of one object';

test.each<[string, CodesByStatus, string]>([
  ['no JSON Schema', withSchema(z.custom()), 'the schema of error 409 A cannot be checked'],
  [
    'the member "status"',
    withSchema(A.and(z.object({ status: z.string() }))),
    'the schema of error 409 A has the member "status", which problems have',
  ],
  ['text as members', withSchema(z.string()), NO_OBJECT],
  ['alternatives', withSchema(z.union([A, Taken])), NO_OBJECT],
  ['no possible value', withSchema(z.never()), NO_OBJECT],
  ['two statuses', { 409: 'A', 412: 'A' }, 'error A has two statuses, 409 and 412'],
  ['the code of a 404', { 410: 'NOT_FOUND' }, 'error NOT_FOUND has two statuses, 404 and 410'],
])('a route whose error has %s is rejected with its name', (_, errors, message) => {
  const route = createRouter().post('/x/:id', endpoint({ errors }) as Middleware, () => {});

  expect(() => route.routes()).toThrow(`Cannot register POST /x/:id: ${message}`);
});

test.each([
  [
    '409 replace none of every problem',
    409,
    { status: 7, __proto__: { code: 'X' }, a: 1 },
    { a: 1 },
  ],
  ['503 are not sent', 503, { host: 'db1' }, {}],
])('members of a %s', async (_, status, members, sent) => {
  const own = problemOf(new HttpError(status));

  const { problem } = await failWith(
    () => Promise.reject(new HttpError(status, undefined, { members })),
    { layers: [] },
  );

  expect(problem).toEqual({ ...own, requestId: expect.any(String), ...sent });
});
