import { json } from '@fw/body-parser';
import { createApp, createRouter, type Middleware } from '@fw/core';
import type { StandardSchema } from '@fw/core/schema';
import { request } from '@fw/core/testing';
import { forms } from '@fw/middleware/forms';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { age, readProblem, schemaOf, send } from './testing/requests.ts';
import { validate } from './validate.ts';

function fail(): never {
  throw new Error();
}

/** A schema whose fields only its JSON Schema shows. */
function ofOtherLibrary(schema: z.ZodType): StandardSchema {
  return { '~standard': { ...schema['~standard'], vendor: 'by hand' } };
}

describe('a schema of text that expects a number or a boolean is rejected at start', () => {
  const toNumber = (text: unknown) => (/^\d+$/.test(String(text)) ? Number(text) : undefined);
  const digitsToNumber = (text: unknown) => (/^\d+$/.test(String(text)) ? Number(text) : text);
  const failForDigits = (value: unknown) =>
    typeof value === 'string' && /^\d+$/.test(value) ? fail() : value;
  /** Running it once leaves an unhandled rejection, because zod first tries a schema synchronously. */
  const rejectLater = () => Promise.reject(new Error());

  const unending: z.ZodType = z.object({ a: z.string() }).or(z.lazy(() => unending));

  const conversions = {
    number: 'z.coerce.number()',
    integer: 'z.coerce.number()',
    boolean: 'z.stringbool()',
  };

  test.each<[string, StandardSchema, keyof typeof conversions]>([
    ['zod', z.object({ page: z.number() }), 'number'],
    ['an integer from 18', z.object({ page: z.int().min(18) }), 'integer'],
    ['a default', z.object({ page: z.number().max(-1).default(-1) }), 'number'],
    ['a boolean', z.object({ page: z.boolean() }), 'boolean'],
    ['only true', z.object({ page: z.boolean().refine((is) => is) }), 'boolean'],
    ['only false', z.object({ page: z.boolean().refine((is) => !is) }), 'boolean'],
    ['a list', z.object({ page: z.array(z.number()) }), 'number'],
    ['a list of two', z.object({ page: z.array(z.boolean()).min(2) }), 'boolean'],
    ['a tuple', z.object({ page: z.tuple([z.int()]) }), 'integer'],
    ['a number or a boolean', z.object({ page: z.union([z.number(), z.boolean()]) }), 'number'],
    ['another library', ofOtherLibrary(z.object({ id: z.uuid(), page: z.number() })), 'number'],
    [
      'a definition',
      z.object({ page: z.number().meta({ id: 'Page' }), last: z.number().meta({ id: 'Page' }) }),
      'number',
    ],
    ['valibot', v.object({ page: v.number() }), 'number'],
    [
      'valibot: a variant',
      v.variant('a', [v.object({ a: v.literal('x'), page: v.number() })]),
      'number',
    ],
    ['arktype', type({ 'page?': 'number.integer >= 1' }), 'integer'],
  ])('%s', (_, schema, type) => {
    for (const part of ['query', 'params', 'headers']) {
      expect(() => validate({ [part]: schema })).toThrow(
        new TypeError(
          `Cannot validate ${part} "page" as type ${type}: its value is text; expected a schema that converts it, such as ${conversions[type]} of zod`,
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
    ['fails for digits', z.object({ page: z.preprocess(failForDigits, z.number()) })],
    ['has no JSON Schema form', age],
    ['has no fields', type('string')],
    ['contains itself', unending],
    ['fails for samples', z.object({ page: z.preprocess(fail, z.number()) })],
    ['is asynchronous', z.object({ page: z.coerce.number().refine(rejectLater) })],
  ])('but not one that %s', (_, query) => {
    expect(() => validate({ query, params: query, headers: query })).not.toThrow();
  });

  const id = v.pipe(v.string(), v.uuid());
  const converted = v.pipe(v.unknown(), v.toBoolean());
  const transformed = v.pipe(
    v.string(),
    v.transform((text) => Boolean(text)),
  );
  const falseIsTrue: [string, StandardSchema][] = [
    ['z.coerce.boolean()', z.object({ all: z.coerce.boolean() })],
    ['an optional one', z.object({ all: z.coerce.boolean().optional() })],
    ['one with a default', z.object({ all: z.coerce.boolean().default(false) })],
    ['one after a string', z.object({ all: z.string().pipe(z.coerce.boolean()) })],
    ['one in a list of two', z.object({ all: z.array(z.coerce.boolean()).min(2) })],
    ['one in an alternative', z.object({ a: z.uuid() }).or(z.object({ all: z.coerce.boolean() }))],
    [
      'one in an intersection',
      z.object({ a: z.uuid() }).and(z.object({ all: z.coerce.boolean() })),
    ],
    ['one in lazy()', z.lazy(() => z.object({ id: z.uuid(), all: z.coerce.boolean() }))],
    ['one of another library', ofOtherLibrary(z.object({ all: z.coerce.boolean() }))],
    ['one in a transformed object', z.object({ all: z.coerce.boolean() }).transform(String)],
    ['preprocess(Boolean)', z.object({ all: z.preprocess(Boolean, z.boolean()) })],
    ['any text', z.object({ all: z.preprocess((text) => text !== undefined, z.boolean()) })],
    ['valibot: transform(Boolean)', v.object({ all: transformed })],
    ['valibot: in an optional list', v.object({ all: v.optional(v.array(transformed)) })],
    ['valibot: in intersect()', v.intersect([v.object({ id }), v.object({ all: converted })])],
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
    ['a constant', z.object({ all: z.string().transform(() => true) })],
    ['a negation', z.object({ all: z.preprocess((text) => text === 'false', z.boolean()) })],
    ['a word or boolean()', z.object({ all: z.literal('some').or(z.boolean()) })],
    ['parseBoolean() of valibot', v.object({ all: v.pipe(v.string(), v.parseBoolean()) })],
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
    ['a list or null', z.object({ tags: z.union([list, z.null()]) })],
    ['a list in a pipe', z.object({ tags: list.pipe(list) })],
    ['a tuple', z.object({ tags: z.tuple([z.string()]) })],
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
    ['arktype: a list or null', type({ tags: 'string[] | null' })],
    ['arktype: in an alternative', type({ b: 'string' }).or({ tags: 'string[]' })],
    ['a schema of another library', ofOtherLibrary(z.object({ tags: list }))],
  ];

  test.each(schemas)('in the query: %s', async (name, query) => {
    const router = createRouter().get('/', validate({ query }), (ctx) => ctx.json(ctx.query));

    const one = await send(router, '/?tags=a&id=1');
    const two = await send(router, '/?tags=a&tags=b&id=1');

    expect(await one.json()).toMatchObject({ tags: ['a'] });
    if (!name.endsWith('tuple')) expect(await two.json()).toMatchObject({ tags: ['a', 'b'] });
  });

  const split = (value: unknown) => (value === 'a' || value === 'x' ? ['split'] : value);

  test.each<[string, StandardSchema, unknown]>([
    ['accepts text too', z.object({ tags: z.string().or(list) }), 'a'],
    ['accepts one text too', z.object({ tags: z.literal('a').or(list) }), 'a'],
    ['accepts any value', z.object({ tags: z.any() }), 'a'],
    [
      'splits each text',
      z.object({ tags: z.preprocess((text) => [typeof text], list) }),
      ['string'],
    ],
    ['splits some texts', z.object({ tags: z.preprocess(split, list) }), ['split']],
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

  test.each(['query', 'body'])(
    'only in the part whose schema has the list: the %s',
    async (part) => {
      const text = z.object({ tags: z.string() });
      const schemas = { params: text, query: text, body: text, [part]: z.object({ tags: list }) };
      const app = createApp().post('/:tags', forms(), validate(schemas), (ctx) =>
        ctx.json({ params: ctx.params, query: ctx.query, body: ctx.body }),
      );
      const body = new URLSearchParams({ tags: 'c' });

      const response = await request(app, '/a?tags=b', { method: 'POST', body });

      const expected = { params: { tags: 'a' }, query: { tags: 'b' }, body: { tags: 'c' } };
      const tags = part === 'query' ? ['b'] : ['c'];
      expect(await response.json()).toEqual({ ...expected, [part]: { tags } });
    },
  );

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
    const app = createApp().use(router.routes());
    const data = new FormData();
    data.append('tags', 'a');
    data.append('files', new File(['x'], 'x.txt'));

    const response = await request(app, '/', { method: 'POST', body: data });

    expect(await response.json()).toEqual({ tags: ['a'], files: ['x.txt'] });
  });

  test('in a urlencoded form, but not in JSON', async () => {
    const tags = validate({ body: z.object({ tags: list }) });
    const app = createApp()
      .post('/form', forms(), tags, (ctx) => ctx.json(ctx.body))
      .post('/json', json(), tags, (ctx) => ctx.json(ctx.body));
    const body = new URLSearchParams({ tags: 'a' });

    const form = await request(app, '/form', { method: 'POST', body });
    const inJson = await request(app, '/json', { method: 'POST', json: { tags: 'a' } });

    expect(await form.json()).toEqual({ tags: ['a'] });
    expect(inJson.status).toBe(400);
  });
});
