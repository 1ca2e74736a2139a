import { expect, test } from 'vitest';

import { copyLoggable } from './loggable.ts';

const circular: Record<string, unknown> = { order: 7 };
circular.self = circular;
circular.list = [circular];

const shared = { id: 1 };

test.each<[string, unknown, unknown]>([
  [
    'texts, numbers and booleans',
    { a: 'x', b: 1.5, c: true, d: null },
    { a: 'x', b: 1.5, c: true, d: null },
  ],
  ['lists', [1, ['x'], undefined], [1, ['x'], null]],
  ['a BigInt', 12n, '12'],
  ['numbers that JSON makes null', [Number.NaN, Number.NEGATIVE_INFINITY], ['NaN', '-Infinity']],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a URL', new URL('http://a/b'), 'http://a/b'],
  ['an object with toJSON', { toJSON: () => ({ a: 1n }) }, { a: '1' }],
  ['a function and a symbol', { a: () => 1, b: Symbol('b'), c: 1 }, { c: 1 }],
  ['a Map', new Map([['a', 1]]), "Map(1) { 'a' => 1 }"],
  ['a Set', new Set([1]), 'Set(1) { 1 }'],
  ['a regular expression', /a/g, '/a/g'],
  ['a buffer', Buffer.from('abc'), '<Buffer 61 62 63>'],
  [
    'an object that contains itself',
    circular,
    { order: 7, self: '[circular]', list: ['[circular]'] },
  ],
  ['one object twice', [shared, shared], [{ id: 1 }, { id: 1 }]],
  [
    'a getter that throws',
    {
      a: 1,
      get b() {
        throw new Error('no access');
      },
    },
    { a: 1, b: '[cannot be logged: no access]' },
  ],
  [
    'a toJSON that throws no error',
    {
      toJSON() {
        throw 'x';
      },
    },
    '[cannot be logged: it throws]',
  ],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
])('copies %s in a form that JSON has', (_, value, expected) => {
  expect(JSON.parse(JSON.stringify(copyLoggable({ value })))).toEqual({ value: expected });
});

test('an error becomes its stack and those of its causes', () => {
  const { value } = copyLoggable({ value: new Error('outer', { cause: new Error('inner') }) });

  expect(value).toMatch(/^Error: outer\n {4}at [\s\S]*\[cause\]: Error: inner\n {6}at /);
});

test('names and texts share 16 Ki characters', () => {
  const copied = copyLoggable({ a: 'x'.repeat(16_000), b: 'y'.repeat(1_000), c: 'z', d: 1 });

  expect(copied).toEqual({ a: 'x'.repeat(16_000), b: `${'y'.repeat(382)}…`, '…': 'omitted' });
  expect(Object.keys(copyLoggable({ ['n'.repeat(20_000)]: 1 }))).toEqual([
    `${'n'.repeat(16_384)}…`,
  ]);
});

test('a text that just fits is not cut', () => {
  expect(copyLoggable({ a: 'x'.repeat(16_383) })).toEqual({ a: 'x'.repeat(16_383) });
});

test('a line has at most 1,000 values', () => {
  const list = Array.from({ length: 100_000 }, (_, at) => at);
  const object = Object.fromEntries(list.map((at) => [`n${at}`, at]));

  expect(copyLoggable({ list }).list).toEqual([...list.slice(0, 999), '…']);
  expect(Object.keys(copyLoggable({ object }).object as object)).toHaveLength(1_000);
});

test('nested objects are copied up to a depth of eight', () => {
  let deep: unknown = 'bottom';
  for (let level = 9; level > 0; level--) deep = { [`l${level}`]: deep };

  const text = JSON.stringify(copyLoggable({ deep }));

  expect(text).toContain('"l8":"[too deep]"');
});
