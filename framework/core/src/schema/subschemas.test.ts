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

test.each<[string, string, unknown, readonly string[]]>([
  ['a schema', 'items', { type: 'string' }, ['items']],
  ['a list of schemas', 'allOf', [{}, true, {}], ['allOf/0', 'allOf/2']],
  ['schemas by name', '$defs', { type: {}, off: false, items: {} }, ['$defs/type', '$defs/items']],
  ['data', 'default', { items: {} }, []],
])('the schemas in a keyword whose value is %s', (_, keyword, value, paths) => {
  const found: string[] = [];
  mapSubschemas({ [keyword]: value }, (_, keys) => found.push(keys.join('/')));

  expect(found).toEqual(paths);
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
