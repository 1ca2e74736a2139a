import { createApp, createRouter, type Middleware } from '@fw/core';
import type { StandardSchema } from '@fw/core/schema';
import { request } from '@fw/core/testing';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { validate } from './validate.ts';

function fail(): never {
  throw new Error();
}

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

  const replaces = z.preprocess(
    ({ id, idd = id }: Record<string, string>) => ({ idd }),
    z.object({ idd: z.string() }),
  );

  test.each<[string, string, StandardSchema, object]>([
    ['if it reports an optional parameter', '/:b', either, { b: '7' }],
    ['if it has another parameter in its place', '/:id', replaces, { idd: '7' }],
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
