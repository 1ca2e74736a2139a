import { AsyncLocalStorage } from 'node:async_hooks';

import { json } from '@fw/body-parser';
import { compose, createApp, type Middleware } from '@fw/core';
import { hasRun } from '@fw/core/extension';
import type { StandardSchema } from '@fw/core/schema';
import { type RequestOptions, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { connect } from '@fw/middleware/connect';
import { forms } from '@fw/middleware/forms';
import { createRouter, type Router } from '@fw/router';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import express from 'express';
import fc from 'fast-check';
import * as v from 'valibot';
import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { validate } from './validate.ts';

/** A schema by hand: what a library would give. */
function schemaOf<Output>(
  check: StandardSchema<unknown, Output>['~standard']['validate'],
): StandardSchema<unknown, Output> {
  return { '~standard': { version: 1, vendor: 'by hand', validate: check } };
}

const age = schemaOf((value) =>
  typeof value === 'object' && value !== null && 'age' in value && typeof value.age === 'number'
    ? { value: { age: value.age } }
    : { issues: [{ message: 'must be a number', path: ['age'] }] },
);

let logged: unknown[];
const logger = { info() {}, warn() {}, error: (_: string, error?: unknown) => logged.push(error) };

beforeEach(() => {
  logged = [];
});

function send(router: Router, path: string, options: RequestOptions = {}): Promise<Response> {
  const app = createApp({ logger }).use(json()).use(router.routes());
  return request(app, path, options);
}

function post(router: Router, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return send(router, '/', { method: 'POST', headers, body: JSON.stringify(body) });
}

interface Problem {
  readonly errors: readonly {
    readonly in: string;
    readonly pointer: string;
    readonly detail: string;
  }[];
}

async function readProblem(response: Response): Promise<Problem> {
  return (await response.json()) as Problem;
}

/** The issues in the response to a POST of `body` to a route with `validate(schema)`. */
async function issuesOf(schema: StandardSchema, body: unknown): Promise<Problem['errors']> {
  const router = createRouter().post('/', validate(schema), (ctx) => ctx.json(ctx.body));
  const response = await post(router, body);
  return (await readProblem(response)).errors;
}

describe('a schema of any library', () => {
  const schemas = {
    zod: z.object({ age: z.number(), tags: z.array(z.string()).default([]) }),
    valibot: v.object({ age: v.number(), tags: v.optional(v.array(v.string()), []) }),
    arktype: type({ age: 'number', tags: type('string[]').default(() => []) }),
  };

  test.each(Object.entries(schemas))('%s: its output is the body', async (_, schema) => {
    const router = createRouter().post('/', validate(schema), (ctx) => {
      ctx.json([ctx.body.age + 1, ctx.body.tags]);
    });

    const response = await post(router, { age: 41 });

    expect(await response.json()).toEqual([42, []]);
  });

  test.each(Object.entries(schemas))(
    '%s: reports each issue with its pointer',
    async (_, schema) => {
      const errors = await issuesOf(schema, { age: 'old', tags: [1] });

      expect(errors).toEqual([
        { in: 'body', pointer: '/age', detail: expect.stringMatching(/number/) },
        { in: 'body', pointer: '/tags/0', detail: expect.stringMatching(/string/) },
      ]);
    },
  );

  test('handwritten: its output is the body and its issues are reported', async () => {
    const router = createRouter().post('/', validate(age), (ctx) => ctx.json(ctx.body.age));

    expect(await (await post(router, { age: 1, more: 2 })).json()).toBe(1);
    expect(await issuesOf(age, {})).toEqual([
      { in: 'body', pointer: '/age', detail: 'must be a number' },
    ]);
  });
});

describe('the response to invalid parts', () => {
  const router = createRouter().post(
    '/:id',
    validate({
      params: z.object({ id: z.coerce.number() }),
      query: z.object({ page: z.coerce.number() }),
      headers: z.object({ 'x-tenant': z.string() }),
      body: z.object({ 'a/b~c': z.string() }),
    }),
    (ctx) => ctx.json([ctx.params, ctx.query, ctx.body]),
  );
  const good = { 'content-type': 'application/json', 'x-tenant': 't' };

  test('is a problem that joins the issues of all parts', async () => {
    const response = await send(router, '/x?page=y', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a/b~c":1}',
    });
    const problem = await readProblem(response);

    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', title: 'Bad Request' });
    expect(problem.errors.map((issue) => [issue.in, issue.pointer])).toEqual([
      ['params', '/id'],
      ['query', '/page'],
      ['headers', '/x-tenant'],
      ['body', '/a~1b~0c'],
    ]);
  });

  test('is absent for valid parts: the handler reads the outputs of the schemas', async () => {
    const response = await send(router, '/7?page=2&more=3', {
      method: 'POST',
      headers: good,
      body: '{"a/b~c":"x"}',
    });

    expect(await response.json()).toEqual([{ id: 7 }, { page: 2 }, { 'a/b~c': 'x' }]);
  });

  test('has the status 422 of the options', async () => {
    const strict = createRouter().post('/', validate(age, { status: 422 }), (ctx) => ctx.send(''));

    const response = await post(strict, {});

    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  test('lists 100 issues at most', async () => {
    const errors = await issuesOf(z.array(z.string()), Array(5_000).fill(1));

    expect(errors).toHaveLength(100);
  });

  test('lists 100 issues at most, of all parts', async () => {
    const many = schemaOf(() => ({ issues: Array(60).fill({ message: 'wrong' }) }));
    const both = createRouter().post('/', validate({ query: many, body: many }), (ctx) =>
      ctx.send(''),
    );

    const { errors } = await readProblem(await post(both, {}));

    expect(errors.map((issue) => issue.in)).toEqual([
      ...Array(60).fill('query'),
      ...Array(40).fill('body'),
    ]);
  });

  test('reads no more unknown keys than it lists', async () => {
    let reads = 0;
    const key = { toString: () => `key${++reads}` };
    const unknown = (count: number) => ({
      message: '',
      code: 'unrecognized_keys',
      keys: Array(count).fill(key),
    });
    const issues = [unknown(60), unknown(60), { message: 'wrong' }, unknown(110_000)];
    const schema = schemaOf(() => ({ issues }));

    const errors = await issuesOf(schema, {});

    expect({ errors: errors.length, reads }).toEqual({ errors: 100, reads: 100 });
  });

  test('stays short when a key is long', async () => {
    const key = 'k'.repeat(100_000);

    const errors = await issuesOf(z.record(z.string(), z.array(z.string())), {
      [key]: Array(500).fill(1),
    });

    expect(JSON.stringify(errors).length).toBeLessThan(10_000);
  });

  test.each([
    ['contains a key of 100 characters', 'k'.repeat(100), `/${'k'.repeat(100)}`],
    ['ends before a key of 101 characters', 'k'.repeat(101), ''],
  ])('has a pointer that %s', async (_, key, pointer) => {
    const errors = await issuesOf(z.strictObject({}), { [key]: 1 });

    expect(errors).toEqual([{ in: 'body', pointer, detail: 'Unrecognized key' }]);
  });

  test.each([
    ['keys but another code', { code: 'other', keys: ['a'] }],
    ['the code of unknown keys but no list of them', { code: 'unrecognized_keys', keys: 1 }],
  ])('contains the message of an issue with %s', async (_, more) => {
    const errors = await issuesOf(
      schemaOf(() => ({ issues: [{ message: 'wrong', ...more }] })),
      {},
    );

    expect(errors).toEqual([{ in: 'body', pointer: '', detail: 'wrong' }]);
  });

  test('reports a missing body', async () => {
    const errors = await issuesOf(z.object({}), undefined);

    expect(errors).toEqual([{ in: 'body', pointer: '', detail: expect.stringMatching(/object/) }]);
  });
});

describe('a body that no parser has read', () => {
  const warned: unknown[] = [];
  const log = { info() {}, warn() {}, error: (_: string, error?: unknown) => warned.push(error) };
  const route = createRouter().post('/users/:id', validate(z.object({})), (ctx) => ctx.send(''));
  /** The response to a POST after `middleware`. */
  function postAfter(middleware: Middleware, options: RequestOptions = {}): Promise<Response> {
    warned.length = 0;
    const app = createApp({ logger: log }).use(errorHandler(), middleware).route('/api', route);
    return request(app, '/api/users/7', { method: 'POST', ...options });
  }
  const pass: Middleware = (_ctx, next) => next();
  const headers = { 'content-type': 'application/json' };

  test('gets 500, and the log names the route and the remedy', async () => {
    const response = await postAfter(pass, { headers, body: '{}' });

    expect(response.status).toBe(500);
    expect(warned).toEqual([
      new TypeError(
        'Cannot validate the body of POST /api/users/:id: no parser has read it; register json() before the routes',
      ),
    ]);
  });

  test.each<[string, Middleware, RequestOptions, number]>([
    ['no body and no parser', pass, {}, 400],
    ['an empty body', json(), { headers: { ...headers, 'content-length': '0' } }, 400],
    [
      'an empty chunked body',
      json(),
      { headers: { ...headers, 'transfer-encoding': 'chunked' } },
      400,
    ],
    ['a parser of Express', connect(express.json()), { headers, body: '{}' }, 204],
    ['a type that a parser of Express ignores', connect(express.json()), { body: 'x' }, 400],
    ['an empty form', forms(), { headers: { 'content-length': '0' } }, 204],
    [
      'a middleware that reads the body itself',
      async (ctx, next) => {
        ctx.body = JSON.parse(Buffer.concat(await ctx.raw.req.toArray()).toString());
        await next();
      },
      { body: '{}' },
      204,
    ],
    [
      'a middleware that sets a body without reading',
      (ctx, next) => {
        ctx.body = {};
        return next();
      },
      { body: '{}' },
      204,
    ],
  ])('is not reported for %s', async (_, middleware, options, status) => {
    expect((await postAfter(middleware, options)).status).toBe(status);
    expect(warned).toEqual([]);
  });
});

describe('the input', () => {
  const shape = {
    age: 5,
    role: 's3cr3t-role',
    email: 's3cr3t-mail',
    pin: 48159,
    nested: { a: 's3cr3t-a' },
  };
  const schemas: Record<string, StandardSchema> = {
    zod: z.strictObject({
      age: z.string(),
      role: z.enum(['a', 'b']),
      email: z.email({
        error: (issue) => `"${issue.input}" is no address, you said ${issue.input}`,
      }),
      pin: z.number().max(9, { error: (issue) => `pin ${issue.input} is too large` }),
      nested: z.union([z.object({ a: z.number() }), z.string()]),
    }),
    valibot: v.strictObject({
      age: v.string(),
      role: v.picklist(['a', 'b']),
      email: v.pipe(v.string(), v.email()),
      pin: v.pipe(v.number(), v.maxValue(9)),
      nested: v.union([v.object({ a: v.number() }), v.string()]),
    }),
    arktype: type({
      age: 'string',
      role: "'a' | 'b'",
      email: 'string.email',
      pin: 'number < 9',
      nested: type({ a: 'number' }).or('string'),
    }),
    'by hand': schemaOf((value) => ({
      issues: [{ message: `Cannot take ${JSON.stringify(value)}` }],
    })),
  };

  test.each(Object.entries(schemas))('%s: never appears in the response', async (_, schema) => {
    const text = JSON.stringify(await issuesOf(schema, shape));

    expect(text).toContain('detail');
    expect(text).not.toMatch(/s3cr3t|48159/);
  });

  test.each(Object.entries(schemas))(
    '%s: never appears in the response, for generated inputs',
    async (_, schema) => {
      await fc.assert(
        fc.asyncProperty(fc.string({ minLength: 6, unit: 'grapheme' }), async (text) => {
          const mark = `~~${text.toWellFormed().replaceAll('\0', '')}~~`;
          const fields = { age: 1, role: mark, email: mark, pin: 48159, nested: { a: mark } };

          const errors = await issuesOf(schema, fields);

          for (const { detail } of errors) expect(detail).not.toContain(mark);
          for (const { detail } of errors)
            expect(detail).not.toContain(JSON.stringify(mark).slice(1, -1));
        }),
        { numRuns: 40 },
      );
    },
  );

  const row = (count: number) => Array(count).fill(0);

  test.each<[string, unknown, string, string]>([
    ['a short word in double quotes', 'ab', 'not "ab" ab', 'not "…" ab'],
    ['a short word in single quotes', 'ab', "not 'ab' ab", "not '…' ab"],
    ['a short word in backticks', 'ab', 'not `ab` ab', 'not `…` ab'],
    ['a word of five letters without quotes', 'abcde', 'not abcde', 'not …'],
    ['no word of four letters without quotes', 'abcd', 'not abcd', 'not abcd'],
    ['a number in quotes', 17, 'not "17"', 'not "…"'],
    ['an escaped string', 'a "b" c', 'not <a \\"b\\" c>', 'not <…>'],
    ['no empty string', '', 'not ""', 'not ""'],
    ['the longest string first', ['secret-key', 'secret'], 'not secret-key', 'not …'],
    ['the longest string first', ['secret', 'secret-key'], 'not secret-key', 'not …'],
    ['nothing for null', { none: null }, 'not good', 'not good'],
    ['only the values of a list of 1,000', row(1_000), 'not "0"', 'not "…"'],
    ['the message for a list of 1,001', row(1_001), 'not good', 'Invalid value'],
    ['the message for 1,001 nested values', [row(500), row(500)], 'not good', 'Invalid value'],
    ['the message for a long list', row(200_000), 'not good', 'Invalid value'],
    ['no message of 1,000 characters', 1, 'x'.repeat(1_000), 'x'.repeat(1_000)],
    ['a message of 1,001 characters', 1, 'x'.repeat(1_001), 'Invalid value'],
  ])('masks %s', async (_, value, message, detail) => {
    const schema = schemaOf(() => ({ issues: [{ message, path: ['field'] }] }));

    const errors = await issuesOf(schema, { field: value, other: 'not good' });

    expect(errors).toEqual([{ in: 'body', pointer: '/field', detail }]);
  });

  const gt7 = v.pipe(v.number(), v.gtValue(7));
  const small = type({ a: 'number < 5' }).or({ b: 'number < 5' });

  test.each<[string, StandardSchema, unknown, string]>([
    ['valibot', v.object({ a: v.string() }), { a: 7 }, 'Expected string but received …'],
    ['valibot: no limit', v.object({ a: gt7 }), { a: 7 }, 'Expected >7 but received …'],
    ['arktype', type({ a: 'number < 7' }), { a: 7 }, 'must be less than 7 (was …)'],
    ['arktype: two rules', type({ a: 'number < 5 & number % 2' }), { a: 7 }, '(…) must be...'],
    [
      'arktype: two schemas',
      small,
      { a: 7, b: 8 },
      'a must be less than 5 (was …) or b must be less than 5 (was …)',
    ],
  ])('is masked in messages of %s', async (_, schema, value, detail) => {
    const [issue] = await issuesOf(schema, value);

    expect(issue?.detail).toContain(detail);
  });

  test.each([
    ['null', null],
    ['a string', 'text'],
    ['nothing', undefined],
  ])('at a path that leads through %s is not read', async (_, field) => {
    const schema = schemaOf(() => ({ issues: [{ message: 'wrong', path: ['field', 'length'] }] }));

    const errors = await issuesOf(schema, { field });

    expect(errors).toEqual([{ in: 'body', pointer: '/field/length', detail: 'wrong' }]);
  });

  test('in an unknown key appears only in the pointer', async () => {
    const errors = await issuesOf(z.strictObject({}), { one: 1, two: 2 });

    expect(errors).toEqual([
      { in: 'body', pointer: '/one', detail: 'Unrecognized key' },
      { in: 'body', pointer: '/two', detail: 'Unrecognized key' },
    ]);
  });

  test('does not remove the words of the schema from the message', async () => {
    const errors = await issuesOf(z.object({ type: z.literal('user'), name: z.string().min(3) }), {
      type: 'x',
      name: 'a',
    });

    expect(errors).toEqual([
      { in: 'body', pointer: '/type', detail: 'Invalid input: expected "user"' },
      { in: 'body', pointer: '/name', detail: 'Too small: expected string to have >=3 characters' },
    ]);
  });
});

function fail(): never {
  throw new Error();
}

function overflow(): never {
  throw new RangeError('Maximum call stack size exceeded');
}

function throwRangeError(): never {
  throw new RangeError('Invalid array length');
}

describe('a schema', () => {
  test('that is asynchronous is awaited, for every part', async () => {
    const unique = z.object({
      name: z.string().refine(async (name) => name !== 'ada', 'exists'),
    });
    const router = createRouter().post(
      '/',
      validate({ body: unique, query: z.object({}) }),
      (ctx) => ctx.json(ctx.body.name),
    );

    expect(await (await post(router, { name: 'free' })).json()).toBe('free');
    const rejected = await post(router, { name: 'ada' });
    expect(rejected.status).toBe(400);
    expect((await readProblem(rejected)).errors).toEqual([
      { in: 'body', pointer: '/name', detail: 'exists' },
    ]);
  });

  test('that fails without an issue gets 400', async () => {
    const silent = schemaOf(() => ({ issues: [] }));
    const router = createRouter().post('/', validate(silent), (ctx) => ctx.send(''));

    const response = await post(router, {});

    expect(response.status).toBe(400);
    expect(await readProblem(response)).toMatchObject({ detail: 'Bad Request', errors: [] });
  });

  test('that is synchronous leaves the chain synchronous', async () => {
    const seen: unknown[] = [];
    const look: Middleware = (_ctx, next) => {
      const running = next();
      seen.push(hasRun(running));
      return running;
    };
    const app = createApp({ logger }).use(look, validate({ query: age }), look);
    const check = validate({ query: schemaOf((value) => ({ value })) });
    const open = createApp({ logger }).use(compose([look, check, (ctx) => ctx.json(1)]));

    await request(open, '/');
    await request(app, '/');

    expect(seen).toEqual([true, false]); // the second one was rejected
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('secret of the schema');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret of the schema'))],
    [
      'throws a RangeError',
      () => {
        throw new RangeError('secret of the schema');
      },
    ],
  ])('that %s gets 500, and the reason is logged', async (_, check) => {
    const schemas = {
      query: schemaOf(() => Promise.reject(new Error('also'))),
      body: schemaOf(check),
    };
    const router = createRouter().post('/', validate({ body: schemas.body }), (ctx) =>
      ctx.send(''),
    );
    const both = createRouter().post('/', validate(schemas), (ctx) => ctx.send(''));

    const response = await post(router, {});

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(String(logged[0])).toContain('secret of the schema');
    expect((await post(both, {})).status).toBe(500);
  });

  test('that recurses endlessly gets 500, because the input is not the cause', async () => {
    const endless = (): never => endless();
    const router = createRouter().post('/', validate(schemaOf(endless)), (ctx) => ctx.send(''));

    expect((await post(router, { a: 'text', b: 1, c: null, d: [] })).status).toBe(500);
  });

  test.each<[string, number, () => never, number]>([
    ['overflows the stack for 201 levels', 201, overflow, 500],
    ['overflows the stack for 202 levels', 202, overflow, 400],
    ['throws another RangeError for 202 levels', 202, throwRangeError, 500],
  ])('that %s', async (_, levels, check, status) => {
    const body = JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    const setBody: Middleware = (ctx, next) => {
      ctx.body = body;
      return next();
    };
    const app = createApp({ logger }).use(setBody, validate(schemaOf(check)));

    expect((await request(app, '/', { method: 'POST' })).status).toBe(status);
  });

  test('that converts the body to undefined leaves no body', async () => {
    const router = createRouter().post(
      '/',
      validate(z.unknown().transform(() => undefined)),
      (ctx) => ctx.json(ctx.body === undefined),
    );

    expect(await (await post(router, {})).json()).toBe(true);
  });

  test('that returns a thenable is awaited', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a schema may return a promise of any library
    const thenable = { then: (resolve: (result: object) => void) => resolve({ value: 'later' }) };
    const schema = schemaOf(() => thenable as unknown as Promise<{ value: string }>);
    const router = createRouter().post('/', validate(schema), (ctx) => ctx.json(ctx.body));

    expect(await (await post(router, {})).json()).toBe('later');
  });

  test('of the headers does not change them', async () => {
    const headers = schemaOf(() => ({ value: {} }));
    const router = createRouter().get('/', validate({ headers }), (ctx) =>
      ctx.json([ctx.headers['x-a'], ctx.get('x-a')]),
    );

    const response = await send(router, '/', { headers: { 'x-a': '1' } });

    expect(await response.json()).toEqual(['1', '1']);
  });
});

describe('a recursive schema and a body 20,000 levels deep', () => {
  interface Tree {
    next?: Tree | undefined;
  }
  const zodTree: z.ZodType<Tree> = z.object({ next: z.lazy(() => zodTree).optional() });
  const valibotTree: v.GenericSchema<Tree> = v.object({
    next: v.optional(v.lazy(() => valibotTree)),
  });
  const arktypeTree = type.module({ tree: { 'next?': 'tree' } }).tree;
  const schemas: [string, StandardSchema][] = [
    ['zod', zodTree],
    ['valibot', valibotTree],
    ['arktype', arktypeTree],
  ];
  const text = `${'{"next":'.repeat(20_000)}{}${'}'.repeat(20_000)}`;

  test.each(schemas)('%s: gets 400 instead of an overflow of the stack', async (_, schema) => {
    const parse: Middleware = (ctx, next) => {
      ctx.body = JSON.parse(text);
      return next();
    };
    const app = createApp({ logger }).use(parse, validate(schema), (ctx) => ctx.send(''));

    const response = await request(app, '/', { method: 'POST' });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([
      { in: 'body', pointer: '', detail: 'Nested too deeply' },
    ]);
    expect(logged).toEqual([]);
  });
});

describe('the types of a handler', () => {
  const User = z.object({ name: z.string(), since: z.coerce.date() });
  const Paging = v.object({ page: v.pipe(v.string(), v.transform(Number)) });
  const Id = type({ id: 'string.integer.parse' });
  const pass: Middleware = (_ctx, next) => next();

  test('are the outputs of the schemas', async () => {
    const router = createRouter();
    router.post('/:id', validate({ body: User, query: Paging, params: Id }), (ctx) => {
      expectTypeOf(ctx.body).toEqualTypeOf<{ name: string; since: Date }>();
      expectTypeOf(ctx.query).toEqualTypeOf<{ page: number }>();
      expectTypeOf(ctx.params).toEqualTypeOf<{ id: number }>();
      ctx.json([ctx.body.since.getTime(), ctx.query.page + 1, ctx.params.id + 1]);
    });

    const response = await send(router, '/7?page=1', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Ada","since":5}',
    });

    expect(await response.json()).toEqual([5, 2, 8]);
  });

  test('keep those of the path where no schema checks it, among other middleware', () => {
    const router = createRouter({ prefix: '/:tenant' });
    router.put(
      '/:id',
      (ctx, next) => {
        expectTypeOf(ctx.body).toEqualTypeOf<unknown>();
        return next();
      },
      validate(User),
      pass,
      validate({ query: Paging, headers: z.object({}) }),
      (ctx) => {
        expectTypeOf(ctx.params).toEqualTypeOf<{ readonly tenant: string; readonly id: string }>();
        expectTypeOf(ctx.body.since).toEqualTypeOf<Date>();
        expectTypeOf(ctx.query.page).toEqualTypeOf<number>();
      },
    );
    router.route('PURGE', '/:id', validate(age), (ctx) => {
      expectTypeOf(ctx.body).toEqualTypeOf<{ age: number }>();
    });
    router.all('/all', validate(User), (ctx) =>
      expectTypeOf(ctx.body.name).toEqualTypeOf<string>(),
    );
    router.group('/group', validate({ query: Paging }), (group) => {
      group.get('/:x', validate(User), (ctx) => {
        expectTypeOf(ctx.query.page).toEqualTypeOf<number>();
        expectTypeOf(ctx.body.name).toEqualTypeOf<string>();
        expectTypeOf(ctx.params.x).toEqualTypeOf<string>();
      });
    });

    expect(router.getRoutes().length).toBeGreaterThan(3);
  });
});

test('validate records its schemas for the document, those of a group included', () => {
  const [body, params] = [z.object({}), z.object({})];
  const router = createRouter().group('/users', validate({ params }), (group) => {
    group.post('/:id', validate(body, { status: 422 }), (ctx) => ctx.send(''));
  });

  const [route] = router.getRoutes();

  expect(route?.metadata.validation).toEqual({ params, body, status: 422 });
});

describe('a params schema that needs a parameter which the path does not have', () => {
  const schemas: [string, StandardSchema][] = [
    ['zod', z.object({ idd: z.coerce.number() })],
    ['zod with a conversion of the output', z.object({ idd: z.string() }).transform(String)],
    ['valibot', toStandardJsonSchema(v.object({ idd: v.string() }))],
    ['arktype', type({ idd: 'string' })],
    [
      'zod with a conversion of another parameter',
      z.preprocess(
        ({ id, idd }: Record<string, string>) => ({ id: id?.at(0)?.trim() ?? fail(), idd }),
        z.object({ idd: z.string() }),
      ),
    ],
  ];
  const expected = 'Cannot register GET /users/:id: "idd" must be a parameter of the path';
  const send: Middleware = (ctx) => ctx.send('');

  test.each(schemas)('is rejected when the router is served: %s', (_, params) => {
    const router = createRouter().get('/users/:id', validate({ params }), send);

    expect(() => router.routes()).toThrow(TypeError);
    expect(() => router.routes()).toThrow(expected);
  });

  test('is rejected at registration on a router that is already served', () => {
    const params = z.object({ idd: z.string() });
    const router = createRouter();
    createApp().route('/', router);

    expect(() => router.get('/users/:id', validate({ params }), send)).toThrow(expected);
    expect(router.getRoutes()).toEqual([]);
    router.get('/users/:id', send);
    expect(() => router.use('/users', validate({ params }))).toThrow(expected);
    expect(router.getRoutes().map(({ metadata }) => metadata)).toEqual([{}]);
  });

  test.each(schemas)('is accepted where a prefix has the parameter: %s', async (_, params) => {
    const app = createApp();
    app.route('/:idd', createRouter().get('/users/:id', validate({ params }), send));

    expect((await request(app, '/1/users/7')).status).toBe(204);
  });

  test('is accepted after a schema that creates it', async () => {
    const makes = z.object({ id: z.string() }).transform(({ id }) => ({ idd: id }));
    const reads = z.object({ idd: z.string() });
    const router = createRouter().get(
      '/users/:id',
      validate({ params: makes }),
      validate({ params: reads }),
      (ctx) => ctx.json(ctx.params),
    );
    const app = createApp().use(router.routes());

    expect(await (await request(app, '/users/7')).json()).toEqual({ idd: '7' });
  });

  test('is accepted if the parameter is optional, or if the schema cannot be checked', () => {
    const optional = z.object({ idd: z.string().optional() });
    const withoutJsonSchema = v.object({ idd: v.string() });
    const notInJson = z.object({ idd: z.date() });
    const requiring = (validate: StandardSchema['~standard']['validate']): StandardSchema => ({
      '~standard': {
        version: 1,
        vendor: 'by hand',
        jsonSchema: { input: () => ({ required: ['idd'] }), output: () => ({}) },
        validate,
      },
    });
    const throwing = requiring((value) => ({ value: (value as { idd: string }).idd.length }));
    const rejecting = requiring(() => Promise.reject(new Error()));

    for (const params of [optional, withoutJsonSchema, notInJson, throwing, rejecting]) {
      const router = createRouter().get('/users/:id', validate({ params }), send);
      expect(() => router.routes()).not.toThrow();
    }
  });
});

describe('a params schema that fits the path is accepted when the router is served', () => {
  const either = z
    .object({ a: z.string().optional(), b: z.string().optional() })
    .refine(({ a, b }) => a !== undefined || b !== undefined, { path: ['a'] });
  const renames = (idd: z.ZodType) =>
    z.preprocess((value) => ({ idd: Reflect.get(Object(value), 'id') }), z.object({ idd }));

  test.each<[string, string, StandardSchema, object]>([
    ['if it reports an optional parameter', '/:b', either, { b: '7' }],
    ['if it renames the parameter before the check', '/:id', renames(z.string()), { idd: '7' }],
    [
      'if it looks for another parameter',
      '/:id',
      z.preprocess(
        (value: object) => ({ idd: 'id' in value && value.id }),
        z.object({ idd: z.literal('7') }),
      ),
      { idd: '7' },
    ],
    [
      'if it renames a parameter with a format',
      '/:id',
      renames(z.string().refine((id) => id === '7')),
      { idd: '7' },
    ],
  ])('%s', async (_, path, params, expected) => {
    const router = createRouter().get(path, validate({ params }), (ctx) => ctx.json(ctx.params));
    const app = createApp().use(router.routes());

    expect(await (await request(app, '/7')).json()).toEqual(expected);
  });

  test('without running a conversion to text', () => {
    const inputs: unknown[] = [];
    const params = z.object({ id: z.preprocess((value) => inputs.push(value), z.string()) });

    createRouter()
      .get('/:id', validate({ params }), (ctx) => ctx.send(''))
      .routes();

    expect(inputs).toEqual([]);
  });
});

describe('a schema of text that expects a number or a boolean is rejected at start', () => {
  const toNumber = (text: unknown) => (/^\d+$/.test(String(text)) ? Number(text) : undefined);
  const digitsToNumber = (text: unknown) => (/^\d+$/.test(String(text)) ? Number(text) : text);
  const failForDigits = (text: unknown) => (/^\d+$/.test(String(text)) && fail()) || text;
  /** Running it once leaves an unhandled rejection, because zod first tries a schema synchronously. */
  const rejectLater = () => Promise.reject(new Error());

  test.each<[string, StandardSchema, string, string]>([
    ['zod', z.object({ page: z.number() }), 'number', 'z.coerce.number()'],
    ['an integer from 18', z.object({ page: z.int().min(18) }), 'integer', 'z.coerce.number()'],
    ['an optional one', z.object({ page: z.number().optional() }), 'number', 'z.coerce.number()'],
    ['null', z.object({ page: z.number().nullable() }), 'number', 'z.coerce.number()'],
    [
      'a default',
      z.object({ page: z.number().max(-1).default(-1) }),
      'number',
      'z.coerce.number()',
    ],
    [
      'a date next to it',
      z.object({ since: z.coerce.date(), page: z.number() }),
      'number',
      'z.coerce.number()',
    ],
    ['a boolean', z.object({ page: z.boolean() }), 'boolean', 'z.stringbool()'],
    ['only true', z.object({ page: z.boolean().refine((is) => is) }), 'boolean', 'z.stringbool()'],
    [
      'only false',
      z.object({ page: z.boolean().refine((is) => !is) }),
      'boolean',
      'z.stringbool()',
    ],
    ['a list', z.object({ page: z.array(z.number()) }), 'number', 'z.coerce.number()'],
    ['a list of two', z.object({ page: z.array(z.boolean()).min(2) }), 'boolean', 'z.stringbool()'],
    ['a tuple', z.object({ page: z.tuple([z.int()]) }), 'integer', 'z.coerce.number()'],
    ['a union', z.object({ page: z.number().or(z.null()) }), 'number', 'z.coerce.number()'],
    ['undefined', z.object({ page: z.boolean().or(z.undefined()) }), 'boolean', 'z.stringbool()'],
    [
      'an alternative',
      z.object({ id: z.uuid() }).or(z.object({ page: z.boolean() })),
      'boolean',
      'z.stringbool()',
    ],
    [
      'an intersection',
      z.object({ id: z.uuid() }).and(z.object({ page: z.number() })),
      'number',
      'z.coerce.number()',
    ],
    [
      'a definition',
      z.object({ page: z.number().meta({ id: 'Page' }), last: z.number().meta({ id: 'Page' }) }),
      'number',
      'z.coerce.number()',
    ],
    ['valibot', v.object({ page: v.number() }), 'number', 'z.coerce.number()'],
    ['valibot: a list', v.object({ page: v.array(v.boolean()) }), 'boolean', 'z.stringbool()'],
    [
      'valibot: a variant',
      v.variant('a', [v.object({ a: v.literal('x'), page: v.number() })]),
      'number',
      'z.coerce.number()',
    ],
    ['arktype', type({ 'page?': 'number.integer >= 1' }), 'integer', 'z.coerce.number()'],
  ])('%s', (_, schema, name, conversion) => {
    for (const part of ['query', 'params', 'headers']) {
      expect(() => validate({ [part]: schema })).toThrow(
        new TypeError(
          `Cannot validate ${part} "page" as type ${name}: its value is text; expected a schema that converts it, such as ${conversion} of zod`,
        ),
      );
    }
  });

  test.each<[string, StandardSchema]>([
    ['converts text to a number', z.object({ page: z.coerce.number().int().min(18) })],
    ['converts text before it checks', z.object({ page: z.preprocess(Number, z.number()) })],
    ['converts text to a boolean', z.object({ page: z.stringbool() })],
    ['also accepts text', z.object({ page: z.union([z.literal('all'), z.number()]) })],
    ['converts with valibot', v.object({ page: v.pipe(v.string(), v.transform(Number)) })],
    ['converts with arktype', type({ page: 'string.numeric.parse' })],
    ['has a conversion of its own', z.object({ page: z.preprocess(toNumber, z.number()) })],
    [
      'converts digits and reports other text',
      z.object({ page: z.preprocess(digitsToNumber, z.number().optional()) }),
    ],
    ['rejects the samples', z.object({ page: z.number().refine((page) => page > 1_000) })],
    ['fails for a number', z.object({ page: z.number().transform(fail) })],
    [
      'fails for digits',
      z.object({
        page: z.preprocess(
          (value) => (typeof value === 'string' ? failForDigits(value) : value),
          z.number(),
        ),
      }),
    ],
    ['has no JSON Schema form', age],
    ['fails for samples', z.object({ page: z.preprocess(fail, z.number()) })],
    ['is asynchronous', z.object({ page: z.coerce.number().refine(rejectLater) })],
  ])('but not one that %s', (_, query) => {
    expect(() => validate({ query, params: query, headers: query })).not.toThrow();
  });

  const falseIsTrue: [string, StandardSchema][] = [
    ['z.coerce.boolean()', z.object({ all: z.coerce.boolean() })],
    ['one next to a required field', z.object({ id: z.uuid(), all: z.coerce.boolean() })],
    ['an optional one', z.object({ all: z.coerce.boolean().optional() })],
    ['one with a default', z.object({ all: z.coerce.boolean().default(false) })],
    ['a nullable one', z.object({ all: z.coerce.boolean().nullable() })],
    ['one after a string', z.object({ all: z.string().pipe(z.coerce.boolean()) })],
    ['one that is converted', z.object({ all: z.coerce.boolean().transform(Number) })],
    ['one that must be true', z.object({ all: z.coerce.boolean().refine((is) => is) })],
    ['one in a union', z.object({ all: z.literal('auto').or(z.coerce.boolean()) })],
    ['one in a list', z.object({ all: z.array(z.coerce.boolean()) })],
    ['one in a list of two', z.object({ all: z.array(z.coerce.boolean()).min(2) })],
    ['one in an alternative', z.object({ a: z.uuid() }).or(z.object({ all: z.coerce.boolean() }))],
    [
      'one in an intersection',
      z.object({ a: z.uuid() }).and(z.object({ all: z.coerce.boolean() })),
    ],
    ['one in lazy()', z.lazy(() => z.object({ all: z.coerce.boolean() }))],
    ['one in a transformed object', z.object({ all: z.coerce.boolean() }).transform(String)],
    ['transform(Boolean)', z.object({ all: z.string().transform(Boolean) })],
    ['preprocess(Boolean)', z.object({ all: z.preprocess(Boolean, z.boolean()) })],
    [
      'valibot: transform(Boolean)',
      v.object({
        all: v.pipe(
          v.string(),
          v.transform((text) => Boolean(text)),
        ),
      }),
    ],
    ['valibot: toBoolean()', v.object({ all: v.pipe(v.unknown(), v.toBoolean()) })],
    [
      'valibot: in an optional list',
      v.object({
        all: v.optional(
          v.array(
            v.pipe(
              v.string(),
              v.transform((text) => Boolean(text)),
            ),
          ),
        ),
      }),
    ],
    [
      'valibot: in a part of intersect()',
      v.intersect([
        v.object({ id: v.pipe(v.string(), v.uuid()) }),
        v.object({ all: v.pipe(v.unknown(), v.toBoolean()) }),
      ]),
    ],
    ['arktype: pipe(Boolean)', type({ id: 'string.uuid', all: type('string').pipe(Boolean) })],
    [
      'arktype: in an alternative',
      type({ kind: "'a'" }).or({ kind: "'b'", all: type('string').pipe(Boolean) }),
    ],
  ];

  test.each(falseIsTrue)('%s, because "false" would be true', (what, schema) => {
    for (const part of what.includes('list') ? ['query'] : ['query', 'params', 'headers']) {
      expect(() => validate({ [part]: schema })).toThrow(
        new TypeError(
          `Cannot validate ${part} "all" as type boolean: it would be true for the text "false"; expected a schema that reads the text, such as z.stringbool() of zod`,
        ),
      );
    }
  });

  test.each<[string, StandardSchema]>([
    ...falseIsTrue.slice(0, 2),
    ['z.boolean()', z.object({ all: z.boolean() })],
  ])('%s, in a route that reads forms only', (_, body) => {
    const route = (parser: Middleware) =>
      createRouter().post('/', parser, validate({ body }), (ctx) => ctx.send(''));
    const problem = 'Cannot register POST /: Cannot validate body "all" as type boolean: ';

    expect(() => route(forms()).routes()).toThrow(problem);
    expect(() => route(forms({ multipart: {} })).routes()).toThrow(problem);
    expect(() => route(json()).routes()).not.toThrow();
  });

  test.each<[string, StandardSchema]>([
    ['stringbool()', z.object({ all: z.stringbool().default(false) })],
    ['a comparison', z.object({ all: z.string().transform((text) => text === 'true') })],
    [
      'a comparison before boolean()',
      z.object({ all: z.preprocess((is) => is === '1', z.boolean()) }),
    ],
    ['a length', z.object({ all: z.string().transform(({ length }) => length) })],
    ['the names of both values', z.object({ all: z.enum(['true', 'false']) })],
    ['a list of stringbool()', z.object({ all: z.array(z.stringbool()) })],
    ['parseBoolean() of valibot', v.object({ all: v.pipe(v.string(), v.parseBoolean()) })],
    ['a comparison with arktype', type({ all: type('string').pipe((text) => text === 'true') })],
  ])('but not %s', (_, query) => {
    expect(() => validate({ query })).not.toThrow();
  });

  test.each<[string, StandardSchema]>([
    ['zod', z.object({ tags: z.array(z.string()).optional() })],
    ['valibot', v.object({ tags: v.array(v.string()) })],
    ['arktype', type({ tags: 'string[]' })],
  ])('also a list in the path or in headers: %s', (_, schema) => {
    for (const part of ['params', 'headers']) {
      expect(() => validate({ [part]: schema })).toThrow(
        new TypeError(
          `Cannot validate ${part} "tags" as type array: its value is text; expected a schema that converts it, such as z.string().transform((text) => text.split(',')) of zod`,
        ),
      );
    }
  });

  test('but not the schema of the body', () => {
    expect(() => validate({ body: z.object({ page: z.number() }) }, { status: 400 })).not.toThrow();
  });
});

describe('a single value where the schema accepts only a list is a list of one', () => {
  const list = z.array(z.string());
  const schemas: [string, StandardSchema][] = [
    ['zod', z.object({ tags: list })],
    ['an optional list', z.object({ tags: list.optional() })],
    ['a nullable list', z.object({ tags: list.nullable() })],
    ['a list or null', z.object({ tags: z.union([list, z.null()]) })],
    ['a list or undefined', z.object({ tags: z.union([list, z.undefined()]) })],
    ['a default', z.object({ tags: list.default([]) })],
    ['a list that is converted', z.object({ tags: list.transform((tags) => [...tags]) })],
    ['a list in a pipe', z.object({ tags: list.pipe(list) })],
    ['a tuple', z.object({ tags: z.tuple([z.string()]) })],
    ['a list of values', z.object({ tags: z.array(z.enum(['a', 'b'])) })],
    ['a list next to a required field', z.object({ id: z.string(), tags: list })],
    ['a list in an alternative', z.object({ b: z.string() }).or(z.object({ tags: list }))],
    [
      'a list in an intersection',
      z.looseObject({ id: z.string() }).and(z.looseObject({ tags: list })),
    ],
    ['a list in lazy()', z.lazy(() => z.object({ tags: list }))],
    ['a list in a converted object', z.object({ tags: list }).transform((query) => query)],
    ['a list in a preprocessed object', z.preprocess((query) => query, z.object({ tags: list }))],
    ['an asynchronous list', z.object({ tags: list.refine(async () => true) })],
    ['valibot', v.object({ tags: v.array(v.string()) })],
    ['valibot: an optional list', v.object({ tags: v.optional(v.array(v.string())) })],
    ['valibot: a nullable list', v.object({ tags: v.nullable(v.array(v.string())) })],
    [
      'valibot: in a variant',
      v.variant('id', [v.object({ id: v.literal('1'), tags: v.array(v.string()) })]),
    ],
    [
      'valibot: in intersect()',
      v.intersect([v.looseObject({}), v.looseObject({ tags: v.array(v.string()) })]),
    ],
    ['valibot: asynchronous', v.objectAsync({ tags: v.arrayAsync(v.string()) })],
    ['arktype', type({ tags: 'string[]' })],
    ['arktype: an optional list', type({ 'tags?': 'string[]' })],
    ['arktype: a list or null', type({ tags: 'string[] | null' })],
    ['arktype: a list or undefined', type({ 'tags?': 'string[] | undefined' })],
    ['arktype: in an alternative', type({ b: 'string' }).or({ tags: 'string[]' })],
    [
      'a schema with its own JSON Schema',
      {
        '~standard': {
          ...z.object({ tags: list })['~standard'],
          vendor: 'by hand',
        },
      },
    ],
  ];

  test.each(schemas)('in the query: %s', async (name, query) => {
    const router = createRouter().get('/', validate({ query }), (ctx) => ctx.json(ctx.query));

    const one = await send(router, '/?tags=a&id=1');
    const two = await send(router, '/?tags=a&tags=b&id=1');

    expect(await one.json()).toMatchObject({ tags: ['a'] });
    if (!name.endsWith('tuple')) expect(await two.json()).toMatchObject({ tags: ['a', 'b'] });
  });

  test.each<[string, StandardSchema, unknown]>([
    ['accepts text too', z.object({ tags: z.string().or(list) }), 'a'],
    ['accepts any value', z.object({ tags: z.any() }), 'a'],
    [
      'splits a text',
      z.object({ tags: z.preprocess((text) => String(text).split(','), list) }),
      ['a'],
    ],
    [
      'splits a text, or has a number',
      z.object({ tags: z.preprocess((text) => [text], z.array(z.enum(['a', 'b']))) }),
      ['a'],
    ],
    ['is text', z.object({ tags: z.string() }), 'a'],
    ['has no JSON Schema form', schemaOf((value) => ({ value })), 'a'],
  ])('but not for a schema that %s', async (_, query, tags) => {
    const router = createRouter().get('/', validate({ query }), (ctx) => ctx.json(ctx.query));

    expect(await (await send(router, '/?tags=a')).json()).toEqual({ tags });
  });

  test('an invalid one is reported with its pointer', async () => {
    const query = z.object({ tags: z.array(z.enum(['a', 'b'])) });
    const router = createRouter().get('/', validate({ query }), (ctx) => ctx.json(ctx.query));

    const { errors } = await readProblem(await send(router, '/?tags=s3cr3t'));

    expect(errors).toMatchObject([{ in: 'query', pointer: '/tags/0' }]);
  });

  test('one that is absent is not created', async () => {
    const query = z.object({ tags: list.optional() });
    const router = createRouter().get('/', validate({ query }), (ctx) => ctx.json(ctx.query));

    expect(await (await send(router, '/?b=1')).json()).toEqual({});
  });

  test.each<[string, StandardSchema]>([
    ['zod', z.object({ tags: list, files: z.array(z.file()) })],
    ['valibot', v.object({ tags: v.array(v.string()), files: v.array(v.file()) })],
    ['arktype', type({ tags: 'string[]', files: 'File[]' })],
  ])('in a form, also a file: %s', async (_, body) => {
    const parser = forms({ multipart: {} });
    const router = createRouter().post('/', parser, validate({ body }), (ctx) => {
      const form = ctx.body as { readonly tags: unknown; readonly files: readonly File[] };
      return { tags: form.tags, files: form.files.map(({ name }) => name) };
    });
    const app = createApp({ logger }).use(errorHandler()).use(router.routes());
    const data = new FormData();
    data.append('tags', 'a');
    data.append('files', new File(['x'], 'x.txt'));
    const { headers, body: stream } = new Response(data);

    const response = await request(app, '/', {
      method: 'POST',
      headers: { 'content-type': headers.get('content-type') ?? '' },
      body: Buffer.concat(await Array.fromAsync(stream ?? [])),
    });

    expect(await response.json()).toEqual({ tags: ['a'], files: ['x.txt'] });
  });

  test('in a urlencoded form, but not in JSON', async () => {
    const router = createRouter().post('/', validate({ body: z.object({ tags: list }) }), (ctx) =>
      ctx.json(ctx.body),
    );
    const app = createApp({ logger })
      .use((ctx, next) =>
        (ctx.get('content-type') === 'application/json' ? json() : forms())(ctx, next),
      )
      .use(router.routes());
    const postAs = (contentType: string, body: string) =>
      request(app, '/', { method: 'POST', headers: { 'content-type': contentType }, body });

    const form = await postAs('application/x-www-form-urlencoded', 'tags=a');
    const inJson = await postAs('application/json', '{"tags":"a"}');

    expect(await form.json()).toEqual({ tags: ['a'] });
    expect(inJson.status).toBe(400);
  });
});

test.each<readonly [unknown, object, string]>([
  [{ boby: age }, {}, 'validate() has no option "boby"; its options: params, query, headers, body'],
  [{ body: 5 }, {}, 'Cannot read option body "5" of validate(): expected a Standard Schema'],
  [
    { body: { id: z.int() } },
    {},
    'Cannot read option body "{ id: [ZodNumberFormat] }" of validate(): expected a Standard Schema; wrap a list of fields, as in z.object({ … })',
  ],
  [{}, {}, 'expected a Standard Schema, or schemas for params, query, headers, body'],
  [undefined, {}, 'Cannot validate with "undefined": expected a Standard Schema'],
  [null, {}, 'Cannot validate with "null": expected a Standard Schema'],
  [age, { code: 422 }, 'validate() has no option "code"; its options: status'],
  [age, { status: 200 }, 'Cannot read option status "200" of validate(): expected 400 or 422'],
])('validate(%j, %j) throws: %s', (schemas, options, message) => {
  const call = () => validate(schemas as object, options);

  expect(call).toThrow(TypeError);
  expect(call).toThrow(message);
});

test('an asynchronous schema keeps the AsyncLocalStorage of the request', async () => {
  const storage = new AsyncLocalStorage<string>();
  const results: (() => void)[] = [];
  const slow = schemaOf<unknown>(
    (value) => new Promise((resolve) => results.push(() => resolve({ value }))),
  );
  const router = createRouter().post('/', validate(slow), (ctx) => ctx.json(storage.getStore()));
  const app = createApp()
    .use((ctx, next) => storage.run(String(ctx.get('x-name')), next))
    .use(router.routes());

  const responses = ['a', 'b'].map((name) =>
    request(app, '/', { method: 'POST', headers: { 'x-name': name } }),
  );
  await expect.poll(() => results.length).toBe(2);
  for (const finish of results) finish();

  expect(await Promise.all(responses.map(async (response) => (await response).json()))).toEqual([
    'a',
    'b',
  ]);
});
