import { expect, test } from 'vitest';

import { isRecord, keysOf, lookUp, mapSubschemas } from './subschemas.ts';

test.each([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
  [undefined, false],
])('%j is an object: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

const ONE = ['not', 'if', 'then', 'else', 'items', 'contains', 'unevaluatedItems', 'propertyNames'];
const OTHERS = ['additionalProperties', 'unevaluatedProperties', 'contentSchema'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];
const DATA = ['const', 'default', 'enum', 'examples', 'required', 'x-own'];

test.each<[string, readonly string[], unknown, readonly string[]]>([
  ['a schema', [...ONE, ...OTHERS], { type: 'string' }, ['']],
  ['a list of schemas', LISTS, [{}, true, {}], ['/0', '/2']],
  ['schemas by name', NAMED, { type: {}, off: false, items: {} }, ['/type', '/items']],
  ['data', DATA, { items: {} }, []],
])('keywords whose value is %s', (_, keywords, value, paths) => {
  for (const keyword of keywords) {
    const found: string[] = [];
    mapSubschemas({ [keyword]: value }, (_, keys) => found.push(keys.join('/')));

    expect(found).toEqual(paths.map((path) => keyword + path));
  }
});

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
