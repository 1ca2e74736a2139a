import { expect, test } from 'vitest';

import { alternativesOf, isSubtype } from './alternatives.ts';

const noReference = () => true;

test.each<[string, unknown, [type: string, ...parts: object[]][]]>([
  ['any value', true, [['any']]],
  ['no value', false, []],
  ['what nothing satisfies', { not: {} }, []],
  ['all but a type', { not: { type: 'null' } }, [['any', { not: { type: 'null' } }]]],
  ['a type', { type: 'string' }, [['string', {}]]],
  [
    'a list of types',
    { type: ['string', 'null'] },
    [
      ['string', {}],
      ['null', {}],
    ],
  ],
  ['a constant', { const: 7 }, [['integer', { enum: [7] }]]],
  ['a constant of null', { const: null }, [['null', { enum: [null] }]]],
  ['a constant list', { const: [1] }, [['array', { enum: [[1]] }]]],
  ['a constant object', { const: {} }, [['object', { enum: [{}] }]]],
  [
    'values of several types',
    { enum: ['a', 1, 'b', 1.5, true] },
    [
      ['string', { enum: ['a', 'b'] }],
      ['integer', { enum: [1] }],
      ['number', { enum: [1, 1.5] }],
      ['boolean', { enum: [true] }],
    ],
  ],
  ['values that the type excludes', { type: 'string', enum: [1] }, []],
  ['some values', { type: 'string', enum: [1, 'a'] }, [['string', { enum: ['a'] }]]],
  [
    'choices',
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    [
      ['string', {}, {}],
      ['null', {}, {}],
    ],
  ],
  ['exclusive choices', { oneOf: [{ type: 'string' }, false] }, [['string', {}, {}]]],
  ['a restricted type', { type: 'number', allOf: [{ type: 'integer' }] }, [['integer', {}, {}]]],
  ['parts that contradict each other', { allOf: [{ type: 'string' }, { type: 'null' }] }, []],
  [
    'each combination of choices',
    { anyOf: [{ title: 'a' }, { title: 'b' }], oneOf: [{ title: 'c' }] },
    ['a', 'b'].map((title) => ['any', {}, { title }, { title: 'c' }]),
  ],
])('the alternatives of %s', (_, schema, expected) => {
  const alternatives = alternativesOf(schema, noReference);

  expect(alternatives.map(({ type, parts }) => [type, ...parts])).toEqual(expected);
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
