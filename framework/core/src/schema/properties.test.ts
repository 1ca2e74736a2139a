import { expect, test } from 'vitest';

import { propertiesOf } from './properties.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const a = { properties: { a: text }, required: ['a'] };
const b = { type: 'object', properties: { b: text } };

test.each<[string, object, object, string[]?]>([
  ['an object', { ...a, ...{ properties: { a: text, b: true } } }, { a: text, b: {} }, ['a']],
  ['alternatives, required in none', { anyOf: [a, b] }, { a: text, b: text }],
  [
    'alternatives, required in both',
    { oneOf: [a, { ...a, properties: { a: number } }] },
    { a: { anyOf: [text, number] } },
    ['a'],
  ],
  ['alternatives of which one is no object', { anyOf: [a, { type: 'null' }] }, { a: text }, ['a']],
  [
    'alternatives next to properties',
    { ...a, oneOf: [b, { required: ['c'] }] },
    { a: text, b: text },
    ['a'],
  ],
  [
    'a field that an alternative forbids',
    { anyOf: [{ ...b, properties: { a: { not: {} } } }, a] },
    { a: text },
  ],
  ['parts', { allOf: [a, b] }, { a: text, b: text }, ['a']],
  [
    'a property that several parts describe',
    { ...b, allOf: [{ ...a, properties: { b: number } }], required: ['b'] },
    { b: text },
    ['b'],
  ],
  ['a reference', { $ref: '#/$defs/A', $defs: { A: a } }, { a: text }, ['a']],
  ['a schema that combines itself', { ...a, allOf: [{ $ref: '#' }] }, { a: text }, ['a']],
  [
    'names that are listed',
    { propertyNames: { enum: ['a', 'b'] }, additionalProperties: text, required: ['a'] },
    { a: text, b: text },
    ['a'],
  ],
  ['other types', { type: 'string' }, {}],
])('the properties of %s', (_, schema, schemas, required = []) => {
  const { named, hasUnnamed } = propertiesOf({ ...schema });

  expect(Object.fromEntries(named.map(({ name, schema: own }) => [name, own]))).toEqual(schemas);
  expect(named.filter((each) => each.required).map(({ name }) => name)).toEqual(required);
  expect(hasUnnamed).toBe(false);
});

test.each<[string, object, boolean]>([
  ['a record', { type: 'object', additionalProperties: text }, true],
  ['a record of any values', { type: 'object', additionalProperties: {} }, true],
  ['patterns', { type: 'object', patternProperties: { '^x-': text } }, true],
  ['an index signature next to properties', { ...b, additionalProperties: text }, true],
  ['a record as alternative', { anyOf: [b, { type: 'object', additionalProperties: text }] }, true],
  ['an object that allows others', { ...b, additionalProperties: {} }, false],
  ['an object that allows no others', { ...b, additionalProperties: false }, false],
  ['any value', {}, false],
])('%s has properties without names: %s', (_, schema, expected) => {
  expect(propertiesOf({ ...schema }).hasUnnamed).toBe(expected);
});
