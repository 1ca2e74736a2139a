import { expect, test } from 'vitest';

import { isRecord, type JsonSchema, keysOf, lookUp, mapSubschemas } from './subschemas.ts';

test.each([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
  [undefined, false],
])('%j is an object: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

/** The paths of the schemas in `schema`. */
function pathsIn(schema: JsonSchema): string[] {
  const paths: string[] = [];
  mapSubschemas(schema, (_, keys) => paths.push(keys.join('/')));
  return paths;
}

test.each([
  'not',
  'if',
  'then',
  'else',
  'items',
  'contains',
  'unevaluatedItems',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
])('the value of %s is a schema', (keyword) => {
  expect(pathsIn({ [keyword]: { type: 'string' } })).toEqual([keyword]);
});

test.each(['allOf', 'anyOf', 'oneOf', 'prefixItems'])('%s is a list of schemas', (keyword) => {
  expect(pathsIn({ [keyword]: [{}, true, {}] })).toEqual([`${keyword}/0`, `${keyword}/2`]);
});

test.each(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])(
  '%s has schemas by name',
  (keyword) => {
    expect(pathsIn({ [keyword]: { type: {}, off: false, items: {} } })).toEqual([
      `${keyword}/type`,
      `${keyword}/items`,
    ]);
  },
);

test.each(['const', 'default', 'enum', 'examples', 'required', 'x-own'])(
  'the value of %s is data',
  (keyword) => {
    expect(pathsIn({ [keyword]: { items: {} } })).toEqual([]);
  },
);

test('schemas are replaced in a copy, all else is kept', () => {
  const schema = { type: 'object', properties: { a: {}, b: true }, $defs: null, anyOf: [{}] };

  expect(mapSubschemas(schema, (_, [keyword]) => keyword)).toEqual({
    type: 'object',
    properties: { a: 'properties', b: true },
    $defs: null,
    anyOf: ['anyOf'],
  });
  expect(schema.properties.a).toEqual({});
});

test.each([
  ['#', []],
  ['#/', ['']],
  ['#/$defs/User', ['$defs', 'User']],
  ['#/a~1b/c~0d/~01', ['a/b', 'c~d', '~1']],
  ['#/a%20b/%', ['a b', '%']],
])('the keys of the reference %s', (ref, keys) => {
  expect(keysOf(ref)).toEqual(keys);
});

test.each([
  ['#', { a: [{ b: null }] }],
  ['#/a/0', { b: null }],
  ['#/a/0/b', null],
  ['#/a/0/b/c', undefined],
  ['#/a/1', undefined],
  ['#/toString', undefined],
])('the part %s of a schema', (ref, part) => {
  expect(lookUp({ a: [{ b: null }] }, ref)).toEqual(part);
});
