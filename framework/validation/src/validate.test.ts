import { json } from '@fw/body-parser';
import { compose, createApp, createRouter, type Middleware } from '@fw/core';
import { hasRun } from '@fw/core/extension';
import type { StandardSchema } from '@fw/core/schema';
import { quiet, type RequestOptions, recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { connect } from '@fw/middleware/connect';
import { forms } from '@fw/middleware/forms';
import { type } from 'arktype';
import express from 'express';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { age, issuesOf, post, readProblem, schemaOf, send } from './testing/requests.ts';
import { validate } from './validate.ts';

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
});

describe('a body that no parser has read', () => {
  const route = createRouter().post('/users/:id', validate(z.object({})), (ctx) => ctx.send(''));
  /** The status of the response to a POST after `middleware`, and the logged errors. */
  async function postAfter(middleware: Middleware, options: RequestOptions = {}) {
    const { errors, logger } = recordLog();
    const app = createApp({ logger }).use(errorHandler(), middleware).route('/api', route);
    const { status } = await request(app, '/api/users/7', { method: 'POST', ...options });
    return { status, errors };
  }
  const pass: Middleware = (_ctx, next) => next();
  const setBody: Middleware = (ctx, next) => {
    ctx.body = {};
    return next();
  };
  const readItself: Middleware = async (ctx, next) => {
    ctx.body = JSON.parse(Buffer.concat(await ctx.raw.req.toArray()).toString());
    await next();
  };
  const headers = { 'content-type': 'application/json' };

  test('gets 500, and the log names the route and the remedy', async () => {
    const { status, errors } = await postAfter(pass, { headers, body: '{}' });

    expect(status).toBe(500);
    expect(errors).toEqual([
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
    ['a middleware that reads the body itself', readItself, { body: '{}' }, 204],
    ['a middleware that sets a body without reading', setBody, { body: '{}' }, 204],
  ])('is not reported for %s', async (_, middleware, options, status) => {
    expect(await postAfter(middleware, options)).toEqual({ status, errors: [] });
  });
});

function overflow(): never {
  throw new RangeError('Maximum call stack size exceeded');
}

function throwError(): never {
  throw new Error('secret of the schema');
}

function throwRangeError(): never {
  throw new RangeError('secret of the schema');
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
    const app = createApp().use(look, validate({ query: age }), look);
    const check = validate({ query: schemaOf((value) => ({ value })) });
    const open = createApp().use(compose([look, check, (ctx) => ctx.json(1)]));

    await request(open, '/');
    await request(app, '/');

    expect(seen).toEqual([true, false]); // the second one was rejected
  });

  test.each<[string, () => never | Promise<never>]>([
    ['throws', throwError],
    ['rejects', () => Promise.reject(new Error('secret of the schema'))],
    ['throws a RangeError', throwRangeError],
  ])('that %s gets 500, and the reason is logged', async (_, check) => {
    const body = schemaOf(check);
    const query = schemaOf(() => Promise.reject(new Error('also')));
    const one = createRouter().post('/', validate({ body }), (ctx) => ctx.send(''));
    const both = createRouter().post('/', validate({ query, body }), (ctx) => ctx.send(''));
    const { errors, logger } = recordLog();

    const response = await post(one, {}, logger);

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(String(errors[0])).toContain('secret of the schema');
    expect((await post(both, {})).status).toBe(500);
  });

  test.each<[string, number, () => never, number]>([
    ['overflows the stack for 200 levels', 200, overflow, 500],
    ['overflows the stack for 201 levels', 201, overflow, 400],
    ['throws another RangeError for 201 levels', 201, throwRangeError, 500],
  ])('that %s', async (_, levels, check, status) => {
    const body = JSON.parse(`${'['.repeat(levels)}"a"${']'.repeat(levels)}`);
    const setBody: Middleware = (ctx, next) => {
      ctx.body = body;
      return next();
    };
    const app = createApp({ logger: quiet }).use(setBody, validate(schemaOf(check)));

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
    const { errors, logger } = recordLog();
    const app = createApp({ logger }).use(parse, validate(schema), (ctx) => ctx.send(''));

    const response = await request(app, '/', { method: 'POST' });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([
      { in: 'body', pointer: '', detail: 'Nested too deeply' },
    ]);
    expect(errors).toEqual([]);
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

  expect(route?.metadata).toMatchObject({
    validation: { params, body, status: 422 },
    errors: [400, 422].map((status) => ({ status, code: 'VALIDATION_FAILED' })),
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
