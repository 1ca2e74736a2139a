import { Readable } from 'node:stream';

import { expect, test } from 'vitest';

import { pointerOf, stringify } from './stringify.ts';

test.each<[string, unknown, string | undefined]>([
  ['nested values', { a: [1, null, {}] }, '{"a":[1,null,{}]}'],
  ['empty objects of any class', [{}, Object.create(null), new (class Empty {})()], '[{},{},{}]'],
  ['a date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  ['fields without a JSON form', { a: {}, b: undefined, c: () => {} }, '{"a":{}}'],
  ['a string that looks like an empty object', '{}', '"{}"'],
  ['a map with a field', Object.assign(new Map([['lost', 1]]), { kept: 1 }), '{"kept":1}'],
  ['undefined', undefined, undefined],
  ['a function', () => {}, undefined],
])('the JSON of %s', (_, value, json) => {
  expect(stringify(value)).toBe(json);
});

function* generate() {
  yield 1;
}

async function* produce() {
  yield 1;
}

test.each<[string, object, string]>([
  ['Map', new Map(), 'use Object.fromEntries(map)'],
  ['Set', new Set(), 'use [...set]'],
  ['Promise', Promise.resolve(1), 'await it'],
  ['Array Iterator', [].values(), 'use [...iterator]'],
  ['Iterator Helper', [].values().map(String), 'use [...iterator]'],
  ['Generator', generate(), 'use [...iterator]'],
  ['AsyncGenerator', produce(), 'use await Array.fromAsync(iterator)'],
  ['URLSearchParams', new URLSearchParams(), 'use Object.fromEntries(value)'],
  ['ArrayBuffer', new ArrayBuffer(1), 'use Buffer.from(buffer)'],
  ['SharedArrayBuffer', new SharedArrayBuffer(1), 'use Buffer.from(buffer)'],
  ['RegExp', /a/, 'use String(value)'],
  ['Request', new Request('http://a'), 'use await value.text()'],
  ['Blob', new Blob(), 'use await value.text()'],
  ['File', new File([], 'a'), 'use await value.text()'],
  ['ReadableStream', Readable.toWeb(Readable.from([])), 'send its values'],
  ['WeakMap', new WeakMap(), 'send its values'],
  ['WeakSet', new WeakSet(), 'send its values'],
  ['WeakRef', new WeakRef({}), 'send its values'],
])('a %s has no JSON form, and the error has a remedy', (name, value, remedy) => {
  expect(() => stringify({ list: [{}, value] })).toThrow(
    new TypeError(
      `Cannot send JSON: "/list/1" has the type ${name}, which has no JSON form; ${remedy}`,
    ),
  );
});

const parent: { a: object[] } = { a: [] };
parent.a.push({}, { back: parent });
const deep = (levels: number, value: unknown): unknown =>
  levels === 0 ? value : { a: deep(levels - 1, value) };

test.each<[string, unknown, string]>([
  ['a value', 1n, 'the value is a BigInt; use String(value)'],
  [
    'a key with a slash',
    { ok: { a: 1 }, 'a/b': [1, { '~': 1n }] },
    '"/a~1b/1/~0" is a BigInt; use String(value)',
  ],
  [
    'the result of toJSON()',
    { toJSON: () => ({ id: 1n }) },
    '"/id" is a BigInt; use String(value)',
  ],
  [
    'a key that toJSON() received',
    { a: { toJSON: (key: string) => ({ [key]: 1n }) } },
    '"/a/a" is a BigInt; use String(value)',
  ],
  ['a cycle', parent, '"/a/1/back" contains itself; send only some of its fields'],
  ['a value in 400 levels', deep(400, 1n), `"${'/a'.repeat(400)}" is a BigInt; use String(value)`],
])('the error names the part without a JSON form: %s', (_, value, problem) => {
  expect(() => stringify(value)).toThrow(new TypeError(`Cannot send JSON: ${problem}`));
});

test('one object in two places does not contain itself', () => {
  const shared = { empty: {} };

  expect(stringify([shared, shared])).toBe('[{"empty":{}},{"empty":{}}]');
  expect(() => stringify([shared, shared, 1n])).toThrow('"/2" is a BigInt');
});

test.each([
  ['the deepest of 600 levels', deep(600, 1n)],
  ['a failing toJSON()', { toJSON: () => JSON.parse('{') }],
])('the error of %s is that of JSON.stringify', (_, value) => {
  let expected: unknown;
  try {
    JSON.stringify(value);
  } catch (error) {
    expected = error;
  }

  expect(() => stringify(value)).toThrow(expected as Error);
});

test('a JSON Pointer escapes tildes and slashes', () => {
  expect(pointerOf(['a/~b', 0, ''])).toBe('/a~1~0b/0/');
});
