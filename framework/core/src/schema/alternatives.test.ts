import { expect, test } from 'vitest';

import { alternativesOf, isSubtype } from './alternatives.ts';

const noReference = () => true;

test.each<[string, unknown, object[]]>([
  ['any value', true, [{ type: 'any', parts: [] }]],
  ['no value', false, []],
  ['what nothing satisfies', { not: {} }, []],
  [
    'all but a type',
    { not: { type: 'string' } },
    [{ type: 'any', parts: [{ not: { type: 'string' } }] }],
  ],
  ['a type', { type: 'string' }, [{ type: 'string', parts: [{}] }]],
  [
    'a list of types',
    { type: ['string', 'null'] },
    [
      { type: 'string', parts: [{}] },
      { type: 'null', parts: [{}] },
    ],
  ],
  ['a constant', { const: 7 }, [{ type: 'integer', parts: [{ enum: [7] }] }]],
  ['a constant of null', { const: null }, [{ type: 'null', parts: [{ enum: [null] }] }]],
  ['a constant list', { const: [1] }, [{ type: 'array', parts: [{ enum: [[1]] }] }]],
  ['a constant object', { const: {} }, [{ type: 'object', parts: [{ enum: [{}] }] }]],
  [
    'values of several types',
    { enum: ['a', 1, 'b', 1.5, true] },
    [
      { type: 'string', parts: [{ enum: ['a', 'b'] }] },
      { type: 'integer', parts: [{ enum: [1] }] },
      { type: 'number', parts: [{ enum: [1, 1.5] }] },
      { type: 'boolean', parts: [{ enum: [true] }] },
    ],
  ],
  ['values that the type excludes', { type: 'string', enum: [1] }, []],
  [
    'some values that the type excludes',
    { type: 'string', enum: [1, 'a'] },
    [{ type: 'string', parts: [{ enum: ['a'] }] }],
  ],
  [
    'choices',
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    [
      { type: 'string', parts: [{}, {}] },
      { type: 'null', parts: [{}, {}] },
    ],
  ],
  [
    'exclusive choices',
    { oneOf: [{ type: 'string' }, false] },
    [{ type: 'string', parts: [{}, {}] }],
  ],
  [
    'a part that restricts the type',
    { type: 'number', allOf: [{ type: 'integer' }] },
    [{ type: 'integer', parts: [{}, {}] }],
  ],
  ['parts that contradict each other', { allOf: [{ type: 'string' }, { type: 'null' }] }, []],
  [
    'each combination of choices',
    { anyOf: [{ title: 'a' }, { title: 'b' }], oneOf: [{ title: 'c' }] },
    [
      { type: 'any', parts: [{}, { title: 'a' }, { title: 'c' }] },
      { type: 'any', parts: [{}, { title: 'b' }, { title: 'c' }] },
    ],
  ],
])('the alternatives of %s', (_, schema, expected) => {
  expect(alternativesOf(schema, noReference)).toEqual(expected);
});

test.each([
  ['string', 'minLength format title'],
  ['number', 'minimum format title'],
  ['integer', 'minimum format title'],
  ['array', 'items title'],
  ['object', 'properties title'],
  ['any', 'minLength minimum items properties format title'],
])('an alternative of type %s has the keywords %s', (type, keywords) => {
  const every = { minLength: 1, minimum: 1, items: 1, properties: 1, format: 1, title: 'kept' };
  const schema = type === 'any' ? every : { ...every, type };

  const [alternative] = alternativesOf(schema, noReference);

  expect(Object.keys(alternative?.parts[0] ?? {})).toEqual(keywords.split(' '));
});

test('references are followed with the references that led to them', () => {
  const calls: unknown[] = [];
  const schemas: Record<string, object> = { a: { $ref: 'b' }, b: { type: 'null' } };

  const alternatives = alternativesOf({ allOf: [{ $ref: 'a' }], $ref: 'b' }, (ref, followed) => {
    calls.push([ref, followed]);
    return schemas[ref];
  });

  expect(calls).toEqual([
    ['b', []],
    ['a', []],
    ['b', ['a']],
  ]);
  expect(alternatives.map(({ type }) => type)).toEqual(['null']);
});

test('up to 10,000 combinations are listed', () => {
  const choices = { anyOf: Array.from({ length: 100 }, () => ({})) };

  expect(alternativesOf({ allOf: [choices, choices] }, noReference)).toHaveLength(10_000);
  expect(() =>
    alternativesOf({ allOf: [choices, choices, { anyOf: [{}, {}] }] }, noReference),
  ).toThrow(new TypeError('it has too many alternatives'));
});

test.each([
  ['string', 'string', true],
  ['string', 'any', true],
  ['any', 'string', false],
  ['integer', 'number', true],
  ['number', 'integer', false],
  ['string', 'number', false],
])('every %s is also %s: %s', (type, other, expected) => {
  expect(isSubtype(type, other)).toBe(expected);
});
