import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { type JsonSchema, requireJsonSchema } from './json-schema.ts';
import { createSerializer, type Violation } from './serializer.ts';
import { addUndeclared } from './testing/undeclared.ts';

function serialize(schema: JsonSchema, value: unknown) {
  const violations: Violation[] = [];
  const text = createSerializer(schema)(value, (violation) => violations.push(violation));
  return { json: text === undefined ? undefined : JSON.parse(text), violation: violations[0] };
}

const text = { type: 'string' };
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const when = (keyword: 'then' | 'else', branch: object) => ({ if: {}, [keyword]: branch });
const NODE = {
  $ref: '#/$defs/Node',
  $defs: {
    Node: object({
      id: text,
      next: { $ref: '#/$defs/Node' },
      all: { items: { $ref: '#/$defs/Node' } },
    }),
  },
};
const CAT_OR_DOG = {
  oneOf: [
    object({ kind: { const: 'cat' }, lives: { type: 'integer' } }, { required: ['kind'] }),
    object({ kind: { const: 'dog' }, name: text }, { required: ['kind'] }),
  ],
};

const withA = object({ a: text });

describe('a serializer keeps exactly the declared fields', () => {
  test.each<[string, JsonSchema, unknown, unknown?]>([
    ['of nested objects', object({ a: withA }), { a: { a: 'x' } }],
    ['of an object without properties', { type: 'object' }, {}],
    ['of the items of a list', { items: withA }, [{ a: 'x' }]],
    ['of a tuple', { prefixItems: [text, withA] }, ['x', { a: 'y' }], ['x', { a: 'y', b: 1 }, {}]],
    ['of a tuple with a rest', { prefixItems: [text], items: withA }, ['x', { a: 'y' }]],
    ['of a record', { additionalProperties: withA }, { k: { a: 'x' } }, { k: { a: 'x', b: 1 } }],
    ['of a pattern', { patternProperties: { '^x-': text } }, { 'x-a': '1' }],
    ['of any value', object({ a: {} }), { a: { b: 1 } }, { a: { b: 1 }, hash: 1 }],
    ['of a nullable object', { anyOf: [withA, { type: 'null' }] }, null],
    ['of a recursive schema', NODE, { id: 'a', next: { id: 'b', all: [{ id: 'c' }] } }],
    ['of all parts', { allOf: [withA, object({ b: text })] }, { a: 'x', b: 'y' }],
    [
      'of a type and of a part without one',
      { type: ['object', 'null'], allOf: [{ properties: { a: text } }] },
      { a: 'x' },
    ],
    [
      'of an alternative in a field',
      object({ pet: CAT_OR_DOG }),
      { pet: { kind: 'cat', lives: 9 } },
      { pet: { kind: 'cat', lives: 9, name: 'x' } },
    ],
    ['by const: a nested constant', { const: { a: { b: ['x'] } } }, { a: { b: ['x'] } }],
    ['by enum', { enum: [{ a: 'x' }, { b: 'x' }, null] }, { b: 'x' }],
    ['by required without properties', { type: 'object', required: ['a'] }, { a: 'x' }],
    ['by enum next to properties', { ...withA, enum: [{ b: 1 }] }, { a: 'x', b: 1 }],
    [
      'by oneOf of required next to properties',
      object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      { b: 'x' },
    ],
    [
      'by anyOf, by a field of a field',
      {
        anyOf: ['m', 'n'].map((kind) =>
          object({ meta: object({ kind: { const: kind } }, { required: ['kind'] }), [kind]: text }),
        ),
      },
      { meta: { kind: 'n' }, n: 'x' },
      { meta: { kind: 'n' }, m: 'secret', n: 'x' },
    ],
    [
      'by anyOf of lists',
      { anyOf: ['a', 'b'].map((key) => ({ items: object({ [key]: text }, { required: [key] }) })) },
      [{ b: 'x' }],
      [{ b: 'x', a: 1 }],
    ],
    [
      'by anyOf of tuples',
      {
        anyOf: ['a', 'b'].map((key) => ({
          prefixItems: [{ const: key }, object({ [key]: text })],
        })),
      },
      ['b', { b: 'y' }],
      ['b', { a: 'x', b: 'y' }],
    ],
    ['by dependentRequired', { ...withA, dependentRequired: { a: ['b'] } }, { a: 'x', b: 1 }],
    ['by then', { ...withA, ...when('then', { required: ['b'] }) }, { a: 'x', b: 1 }],
    [
      'by $ref with siblings',
      { $ref: '#/$defs/A', properties: { b: text }, $defs: { A: withA } },
      { a: 'x', b: 'y' },
    ],
    [
      'by allOf of lists',
      { allOf: [{ items: withA }, { items: object({ b: text }) }] },
      [{ a: 'x', b: 'y' }],
    ],
    [
      'by properties, patternProperties and additionalProperties of one field',
      {
        allOf: [
          { properties: { x: withA } },
          { patternProperties: { '^x': object({ b: text }) } },
          { additionalProperties: object({ c: text }) },
        ],
      },
      { x: { a: 'x', b: 'x', c: 'x' } },
      { x: { a: 'x', b: 'x', c: 'x', d: 'x' } },
    ],
    [
      'by two patterns of one name',
      { patternProperties: { '^x': withA, '1$': object({ b: text }) } },
      { x1: { a: 'x', b: 'x' }, x2: { a: 'x' } },
      { x1: { a: 'x', b: 'x', c: 'x' }, x2: { a: 'x', b: 'x' } },
    ],
    [
      'by false in properties',
      object({ a: false }, { additionalProperties: true }),
      { b: 1 },
      { a: 1, b: 1 },
    ],
    [
      'by false in patternProperties',
      { patternProperties: { '^_': false }, additionalProperties: true },
      { b: 1 },
      { _a: 1, b: 1 },
    ],
    ...[
      [{ enum: ['bb'] }, { bb: 'y' }],
      [{ minLength: 2, maxLength: 3 }, { bb: 'y' }],
      [{ pattern: '^b' }, { bb: 'y' }],
      [false, {}],
      [text, { a: 'x', bb: 'y', cccc: 'z' }],
    ].map(([propertyNames, json]): [string, JsonSchema, unknown, unknown] => [
      `by propertyNames: ${JSON.stringify(propertyNames)}`,
      { propertyNames, additionalProperties: text },
      json,
      { a: 'x', bb: 'y', cccc: 'z' },
    ]),
    [
      'by unevaluatedProperties',
      { allOf: [withA], unevaluatedProperties: object({ b: text }) },
      { a: 'x', x: { b: 'y' } },
      { a: 'x', x: { b: 'y', c: 1 } },
    ],
    [
      'by unevaluatedProperties of a part, before that of the whole',
      {
        anyOf: [{ type: 'object', unevaluatedProperties: withA }],
        unevaluatedProperties: { type: 'integer' },
      },
      { x: { a: 'x' } },
      { x: { a: 'x', secret: 1 } },
    ],
    ['by unevaluatedItems', { prefixItems: [text], unevaluatedItems: withA }, ['x', { a: 'x' }]],
    ['by unevaluatedItems: false', { type: 'array', unevaluatedItems: false }, [], [{ a: 'x' }]],
    ['by contains of a constant', { type: 'array', contains: { const: 1 } }, [1, 2]],
    [
      'by properties and items without a type',
      { properties: { a: text }, items: withA },
      { a: 'x' },
    ],
    ['by keywords that JSON Schema does not have', { ...withA, discriminator: 1 }, { a: 'x' }],
  ])('%s', (_, schema, json, value = addUndeclared(json)) => {
    expect(serialize(schema, value)).toEqual({ json, violation: undefined });
  });

  test('of what toJSON() returns', () => {
    const at = new Date(0);
    const user = { toJSON: () => ({ id: 'ada', at, hash: 1 }) };

    expect(serialize(object({ id: text, at: text }), user)).toEqual({
      json: { id: 'ada', at: at.toISOString() },
      violation: undefined,
    });
  });

  test.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'a"; throw 1; "',
    '\u2028',
    "`'\\",
  ])('with the name %j', (name) => {
    const properties = JSON.parse(`{${JSON.stringify(name)}:{"type":"string"}}`);
    const value = JSON.parse(`{${JSON.stringify(name)}:"x","hash":1}`);

    expect(createSerializer({ type: 'object', properties })(value, () => {})).toBe(
      JSON.stringify(JSON.parse(`{${JSON.stringify(name)}:"x"}`)),
    );
    expect(serialize({ type: 'object', properties }, {})).toEqual({
      json: {},
      violation: undefined,
    });
  });

  test('for any names and values of schemas, without running them as code', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string(), { minKeys: 1 }), (value) => {
        const properties = Object.fromEntries(
          Object.entries(value).map(([name, only]) => [name, { enum: [only, 7] }]),
        );
        const either = { anyOf: [{ type: 'object', properties }, { type: 'array' }] };

        expect(serialize(either, { ...value, [`${Object.keys(value)}!`]: 1 }).json).toEqual(value);
      }),
    );
  });
});

describe('a serializer reports', () => {
  test.each<[string, JsonSchema, unknown, Violation, unknown]>([
    [
      'a missing field that has no schema',
      { type: 'object', required: ['a'] },
      {},
      { pointer: '/a', problem: 'is missing' },
      {},
    ],
    [
      'a missing field of an item',
      { items: object({ 'a/b': text }, { required: ['a/b'] }) },
      [{ 'a/b': 'x' }, {}],
      { pointer: '/1/a~1b', problem: 'is missing' },
      [{ 'a/b': 'x' }, {}],
    ],
    [
      'another type',
      object({ a: { type: 'integer' } }),
      { a: 1.5 },
      { pointer: '/a', problem: 'is a number, expected an integer' },
      { a: 1.5 },
    ],
    [
      'an object where a string is declared, and does not send it',
      object({ a: text }),
      { a: { hash: 1 } },
      { pointer: '/a', problem: 'is an object, expected a string' },
      {},
    ],
    [
      'a number without a JSON form',
      object({ a: { type: 'number' } }),
      { a: Number.NaN },
      { pointer: '/a', problem: 'is NaN, expected a number' },
      { a: null },
    ],
    [
      'a value where none may be, and does not send it',
      object({ a: { not: {} } }),
      { a: 'x' },
      { pointer: '/a', problem: 'must be absent' },
      {},
    ],
    [
      'another type in the alternative that fits best, and sends its fields only',
      {
        anyOf: [
          object({ a: text, b: object({ c: text }) }),
          object({ a: { type: 'null' }, d: text }),
        ],
      },
      { a: 'x', b: { c: 1 }, d: 'x' },
      { pointer: '/b/c', problem: 'is a number, expected a string' },
      { a: 'x', b: { c: 1 } },
    ],
    [
      'a list that fits no alternative, and sends the fields of all',
      {
        anyOf: [
          { prefixItems: [{ const: 'a' }, object({ a: text })] },
          { prefixItems: [{ const: 'b' }, object({ b: text })] },
        ],
      },
      ['c', { a: 'x', b: 'y', hash: 1 }],
      { pointer: '', problem: 'fits none of the alternatives' },
      ['c', { a: 'x', b: 'y' }],
    ],
    [
      'a value that fits no alternative, and sends the fields of all',
      CAT_OR_DOG,
      { kind: 'cow', lives: 1, name: 'x', hash: 1 },
      { pointer: '', problem: 'fits none of the alternatives' },
      { kind: 'cow', lives: 1, name: 'x' },
    ],
  ])('%s', (_, schema, value, violation, json) => {
    expect(serialize(schema, value)).toEqual({ json, violation });
  });

  test('only the first violation', () => {
    const schema = object({ a: text, b: text }, { required: ['a', 'b'] });
    const violations: Violation[] = [];

    createSerializer(schema)({}, (violation) => violations.push(violation));

    expect(violations).toEqual([{ pointer: '/a', problem: 'is missing' }]);
  });
});

test('a value that contains itself throws, as JSON.stringify does', () => {
  const value: { next?: object; all?: object[] } = {};
  value.next = value;
  value.all = [value, value];

  expect(() => serialize(NODE, value)).toThrow('nested more than 200 levels deep');
});

test('alternatives that refer to themselves are compiled', () => {
  const branch = (kind: string) => object({ kind: { const: kind }, next: { $ref: '#' } });
  const schema = { anyOf: [branch('a'), branch('b')] };

  expect(serialize(schema, { kind: 'a', next: { kind: 'b', next: { kind: 'c', x: 1 } } })).toEqual({
    json: { kind: 'a', next: { kind: 'b', next: { kind: 'c' } } },
    violation: { pointer: '/next/next', problem: 'fits none of the alternatives' },
  });
});

test.each([
  [{ $ref: '#/$defs/None' }, 'refers to "#/$defs/None", which does not exist'],
  [{ $ref: 'https://example.com/schema' }, 'outside of itself'],
  [{ $ref: '#/%' }, 'refers to "#/%", which does not exist'],
  [{ $ref: '#' }, 'without a field in between'],
  [{ anyOf: Array.from({ length: 201 }, () => ({})) }, 'it has too many alternatives'],
  [{ enum: Array.from({ length: 201 }, (_, a) => ({ a })) }, 'it has too many alternatives'],
  [{ items: { $dynamicRef: '#node' } }, 'it has "$dynamicRef": expected "$ref"'],
  [{ $recursiveRef: '#' }, 'it has "$recursiveRef": expected "$ref"'],
  [{ $ref: '#node' }, 'outside of itself'],
  [
    { properties: { a: { $id: 'https://example.com/a', items: { $ref: '#' } } } },
    'it has "$ref" in a part with an "$id" of its own',
  ],
  [when('then', object({ a: text })), 'it describes values in "then", which applies to some'],
  [when('else', { $ref: '#/$defs/A' }), 'it describes values in "else"'],
  [{ dependentSchemas: { a: object({ b: text }) } }, 'it describes values in "dependentSchemas"'],
  [{ type: 'object', dependencies: { a: object({}) } }, 'it describes values in "dependencies"'],
  [{ type: 'array', contains: object({ a: text }) }, 'it describes values in "contains"'],
  [{ type: 'array', contains: { const: { a: 1 } } }, 'it describes values in "contains"'],
  [{ items: [text] }, 'it has a list in "items": expected "prefixItems"'],
  [{ type: 'array', additionalItems: text }, 'it has a list in "items"'],
  [{ additionalProperties: 'x' }, 'it has "x" in place of a schema'],
  [{ properties: { a: null } }, 'it has null in place of a schema'],
  [{ patternProperties: { '(': text } }, 'Invalid regular expression'],
  [
    { propertyNames: { not: { const: 'a' } }, additionalProperties: true },
    'it has "not" in "propertyNames": expected "pattern"',
  ],
] as [JsonSchema, string][])('the schema %j cannot be compiled', (schema, problem) => {
  expect(() => createSerializer(schema)).toThrow(problem);
});

test('a schema whose combinations would fill the memory cannot be compiled', () => {
  const choices = { anyOf: Array.from({ length: 10 }, (_, value) => ({ const: value })) };

  expect(() => createSerializer({ allOf: Array.from({ length: 20 }, () => choices) })).toThrow(
    'it has too many alternatives',
  );
});

test.each([
  [z.object({ data: z.custom<string>() }), 'the type "custom" at "/data" has no JSON Schema form'],
  [
    z.object({ n: z.string().transform(Number) }),
    'the type "transform" at "/n" has no JSON Schema form',
  ],
  [z.map(z.string(), z.string()), 'the type "map" has no JSON Schema form'],
  [
    { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } },
    'no converter is installed for schemas of "own"',
  ],
])('a schema without a JSON Schema form throws %#', (schema, problem) => {
  expect(() => requireJsonSchema(schema, 'output')).toThrow(problem);
});
