import { describe, expect, test } from 'vitest';

import {
  aBoolean,
  aFunction,
  aListOf,
  anObject,
  anObjectWith,
  aString,
  aWholeNumber,
  badOption,
  likelyMeant,
  milliseconds,
  oneOf,
  readOptions,
  required,
} from './options.ts';

const NAMES = ['caseSensitive', 'strict', 'limit', 'window', 'store'] as const;
const unchecked = { expected: 'anything', accepts: () => true };
const CHECKS = Object.fromEntries(NAMES.map((name) => [name, unchecked]));

test('readOptions returns valid options, also if some are missing or undefined', () => {
  const options: { strict?: boolean; limit?: number | undefined } = { limit: undefined };

  const read = readOptions('f()', options, { strict: aBoolean, limit: aWholeNumber(1, 5) });

  expect(read).toBe(options);
});

test('readOptions throws a TypeError that names option, value, owner and expected values', () => {
  const options: { limit: number } = { limit: 0 };

  expect(() => readOptions('json()', options, { limit: aWholeNumber(1, 5) })).toThrow(
    new TypeError('Cannot read option limit "0" of json(): expected a whole number from 1 to 5'),
  );
});

test('readOptions throws for a required option that is missing', () => {
  const options: { root?: string } = {};

  expect(() => readOptions('f()', options, { root: required(aString) })).toThrow(
    'f() needs the option root: a string',
  );
});

test.each([
  ['casesensitive', 'caseSensitive'],
  ['limt', 'limit'],
  ['case', 'caseSensitive'],
  ['windowMs', 'window'],
  ['cases', undefined],
  ['prefix', undefined],
])('an unknown option %s throws, and suggests %s', (name, meant) => {
  const hint = meant ? `did you mean "${meant}"? Its` : 'its';

  expect(() => readOptions('f()', { [name]: 5 }, CHECKS)).toThrow(
    new TypeError(
      `f() has no option "${name}"; ${hint} options: caseSensitive, strict, limit, window, store`,
    ),
  );
});

test.each(['__proto__', 'constructor', 'toString'])('an option %s is unknown', (name) => {
  const options = JSON.parse(`{"${name}": 1}`) as object;

  expect(() => readOptions('f()', options, {})).toThrow(`f() has no option "${name}"`);
});

test.each([
  [null, 'null'],
  [5, '5'],
  ['x', 'x'],
  [[], '[]'],
])('options %j are rejected: expected an object', (options, shown) => {
  expect(() => readOptions('f()', options as unknown as object, {})).toThrow(
    `Cannot read the options "${shown}" of f(): expected an object`,
  );
});

test('a promise in place of options or of an option suggests a missing await', () => {
  const promise = Promise.resolve({});

  expect(() => readOptions('f()', promise as object, {})).toThrow(
    'expected an object; is an await missing?',
  );
  for (const check of [anObject, aFunction, aString]) {
    expect(() => readOptions('f()', { a: promise }, { a: check })).toThrow(
      `expected ${check.expected}; is an await missing?`,
    );
  }
});

describe('a check', () => {
  test.each([
    ['aBoolean', aBoolean, [true, false], ['true', 1, null]],
    ['aString', aString, ['', 'a'], [1, null]],
    ['aFunction', aFunction, [() => {}, Date], [{}, 'f']],
    ['aWholeNumber', aWholeNumber(1, 3), [1, 3], [0, 4, 1.5, '2', Number.NaN]],
    ['oneOf', oneOf(['a', 'b']), ['a', 'b'], ['c', '', undefined]],
    ['aListOf', aListOf('a list', aString), [[], ['a']], ['a', [1]]],
    [
      'anObjectWith',
      anObjectWith('a store', ['get']),
      [new Map(), Object.assign(() => {}, { get() {} })],
      [{}, null, 'x', new Set()],
    ],
    ['milliseconds', milliseconds, [0, 0.5, 2 ** 31 - 1], [-1, 2 ** 31, Number.NaN, '5']],
  ])('%s accepts only valid values', (_, { accepts }, good, bad) => {
    expect(good.map(accepts)).toEqual(good.map(() => true));
    expect(bad.map(accepts)).toEqual(bad.map(() => false));
  });
});

describe('likelyMeant', () => {
  test.each([
    ['a different case', 'STRICT', 'strict'],
    ['an additional letter', 'strrict', 'strict'],
    ['a missing letter', 'stict', 'strict'],
    ['another letter', 'strixt', 'strict'],
    ['swapped letters', 'stirct', 'strict'],
    ['swapped letters at the start', 'tsrict', 'strict'],
    ['two additional letters of a long name', 'xtrustProxyy', 'trustProxy'],
    ['two other letters of a long name', 'trabtProxy', 'trustProxy'],
    ['a missing and an additional letter of a long name', 'trstProxyy', 'trustProxy'],
  ])('finds a name with %s', (_, name, meant) => {
    expect(likelyMeant(name, ['strict', 'trustProxy'], { minLength: 3 })).toBe(meant);
  });

  test.each([
    ['two other letters of a short name', 'strabt'],
    ['another letter, and one that comes too early', 'stixct'],
    ['another letter, and one that comes too late', 'stxrct'],
    ['two pairs of swapped letters', 'stirtc'],
    ['three additional letters', 'xxxtrustProxy'],
    ['one edit of four letters', 'hoste'],
  ])('finds none with %s', (_, name) => {
    expect(likelyMeant(name, ['strict', 'trustProxy', 'host'], { minLength: 3 })).toBeUndefined();
  });

  test.each([
    ['windo', 'window', undefined],
    ['timeou', 'timeout', 'timeout'],
    ['HOST', 'host', 'host'],
  ])('by default accepts edits only of names with 6 letters: %s, %s', (name, known, meant) => {
    expect(likelyMeant(name, [known])).toBe(meant);
  });
});

test.each([
  ['x'.repeat(100), 'x'.repeat(100)],
  ['x'.repeat(101), `${'x'.repeat(100)}…`],
])('the error shows at most 100 characters of a value', (name, shown) => {
  const options: { name: string } = { name };

  expect(() => readOptions('f()', options, { name: oneOf(['a', 'b']) })).toThrow(
    `Cannot read option name "${shown}" of f(): expected one of "a", "b"`,
  );
});

test.each<[unknown, string]>([
  ['redis://ada:secret@host:6379/0', 'redis://…@host:6379/0'],
  ['https://ada@host', 'https://…@host'],
  ['https://a:s/e@c@host', 'https://…@host'],
  [new URL('https://ada:secret@host/a'), 'https://…@host/a'],
  [['postgres://ada:secret@host/db'], "[ 'postgres://…@host/db' ]"],
  ['ada@example.org', 'ada@example.org'],
  ['https://host/@ada', 'https://…@ada'],
])('an error shows %s as %s', (value, shown) => {
  expect(badOption('f()', { name: 'url', value, expected: 'a URL' }).message).toBe(
    `Cannot read option url "${shown}" of f(): expected a URL`,
  );
});
