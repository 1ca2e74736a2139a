import { type } from 'arktype';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';

import { requireJsonSchema, toJsonSchema } from './json-schema.ts';

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
])('%s becomes the JSON Schema of its input', (_name, schema) => {
  expect(toJsonSchema(schema, 'input')).toMatchObject(TEXT);
});

test.each([
  ['zod', z.object({ count: z._default(z.string(), 'none') }), ['count']],
  ['arktype', type({ count: 'string = "none"' }), ['count']],
])('a property of %s with a default is required only in the output', (_name, schema, required) => {
  expect(toJsonSchema(schema, 'input').required ?? []).toEqual([]);
  expect(toJsonSchema(schema, 'output').required).toEqual(required);
});

test.each([
  ['zod', z.object({ at: z.date() })],
  ['zod/mini', mini.object({ at: mini.date() })],
  ['valibot', v.object({ at: v.date() })],
])('a date of %s is a string of format date-time', (_name, schema) => {
  expect(toJsonSchema(schema, 'output')).toMatchObject({
    properties: { at: { type: 'string', format: 'date-time' } },
  });
});

test('a part without a JSON form is untyped, the others are typed', () => {
  const schema = z.object({
    id: z.bigint(),
    length: z.string().transform((text) => text.length),
    name: z.string(),
  });

  expect(toJsonSchema(schema, 'output')).toMatchObject({
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
])('%s is untyped', (_name, schema) => {
  expect(toJsonSchema(schema, 'input')).toEqual({});
});

test.each([
  [{ type: 'strng' }, '/type'],
  [{ properties: { a: { items: [{ type: 'strng' }] } } }, '/properties/a/items/0/type'],
  [{ anyOf: [true, { $defs: { 'a/b': { type: 'strng' } } }] }, '/anyOf/1/$defs/a~1b/type'],
])('an unknown type in %j is rejected with its pointer', (schema, pointer) => {
  expect(() => requireJsonSchema(schema, 'output')).toThrow(
    `"${pointer}" is "strng", expected one of`,
  );
});

test('data and names are not schemas', () => {
  const schema = {
    properties: { type: { const: { type: 'strng' } }, enum: { default: { type: 'strng' } } },
    examples: [{ type: 'strng' }],
  };

  expect(requireJsonSchema(schema, 'output')).toEqual(schema);
});
