import { type } from 'arktype';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';

import { toJsonSchema } from './json-schema.ts';

const handWritten = (jsonSchema?: object) => ({
  '~standard': {
    version: 1,
    vendor: 'by-hand',
    validate: (value: unknown) => ({ value }),
    jsonSchema,
  },
});
const TEXT = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

test.each([
  ['zod', z.object({ name: z.string() })],
  ['zod/mini', mini.object({ name: mini.string() })],
  ['valibot', v.object({ name: v.string() })],
  ['arktype', type({ name: 'string' })],
  ['a hand-written Standard JSON Schema', handWritten({ input: () => TEXT })],
  ['a plain JSON Schema', TEXT],
])('%s becomes the JSON Schema of its input', async (_name, schema) => {
  expect(await toJsonSchema(schema, 'input')).toMatchObject(TEXT);
});

test.each([
  ['zod', z.object({ count: z._default(z.string(), 'none') }), ['count']],
  ['arktype', type({ count: 'string = "none"' }), ['count']],
])(
  'a property of %s with a default is required only in the output',
  async (_name, schema, required) => {
    expect((await toJsonSchema(schema, 'input')).required ?? []).toEqual([]);
    expect((await toJsonSchema(schema, 'output')).required).toEqual(required);
  },
);

test.each([
  ['zod', z.object({ at: z.date() })],
  ['zod/mini', mini.object({ at: mini.date() })],
  ['valibot', v.object({ at: v.date() })],
])('a date of %s is a string of format date-time', async (_name, schema) => {
  expect(await toJsonSchema(schema, 'output')).toMatchObject({
    properties: { at: { type: 'string', format: 'date-time' } },
  });
});

test('a part without a JSON form is untyped, the others are typed', async () => {
  const schema = z.object({
    id: z.bigint(),
    length: z.string().transform((text) => text.length),
    name: z.string(),
  });

  expect(await toJsonSchema(schema, 'output')).toMatchObject({
    properties: { id: {}, length: {}, name: { type: 'string' } },
  });
});

test.each([
  ['another vendor', handWritten()],
  ['zod before 4', { '~standard': { version: 1, vendor: 'zod', validate: () => ({}) }, _def: {} }],
  [
    'a converter that throws',
    handWritten({
      input: () => {
        throw new Error('cannot');
      },
    }),
  ],
  ['text', 'string'],
  ['nothing', null],
])('%s is untyped', async (_name, schema) => {
  expect(await toJsonSchema(schema, 'input')).toEqual({});
});

test('the option toJsonSchema precedes the other converters and may return undefined', async () => {
  const known = z.string();
  const override = (schema: unknown, direction: string) =>
    schema === known ? { title: direction } : undefined;

  expect(await toJsonSchema(known, 'output', override)).toEqual({ title: 'output' });
  expect(await toJsonSchema(z.number(), 'output', override)).toMatchObject({ type: 'number' });
  expect(await toJsonSchema(handWritten({ input: () => TEXT }), 'input', () => ({ a: 1 }))).toEqual(
    { a: 1 },
  );
});
