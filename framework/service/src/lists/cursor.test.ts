import { expect, test } from 'vitest';

import { createCursor } from './cursor.ts';

const cursor = createCursor('items sort=name', 'string', 'integer');

test.each([
  ['Zoë "李" 🙂', 0],
  ['', -1],
  ['a'.repeat(500), Number.MAX_SAFE_INTEGER],
] as const)('decode returns the encoded values: %j', (name, id) => {
  const text = cursor.encode(name, id);

  expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(cursor.decode(text)).toEqual([name, id]);
});

test('a cursor of another list is rejected', () => {
  const other = createCursor('items sort=price', 'string', 'integer');

  expect(() => cursor.decode(other.encode('a', 1))).toThrow(
    'cursor must be one that this list returned',
  );
});

const good = cursor.encode('Ada', 7);

test.each([
  '',
  'x',
  'null',
  good.slice(1),
  good.slice(0, -1),
  `${good}=`,
  `${good}A`,
  `${good} `,
  ` ${good}`,
  good.toLowerCase(),
  createCursor('items sort=name', 'string').encode('Ada'),
  createCursor('items sort=name', 'integer', 'string').encode(7, 'Ada'),
])('decode rejects %j with 400', (text) => {
  expect(() => cursor.decode(text)).toThrow(expect.objectContaining({ status: 400 }));
});

test.each<[string, string, number]>([
  ['a text with NUL', 'Ada\0', 7],
  ['a lone surrogate', 'Ada\ud800', 7],
  ['a fraction', 'Ada', 1.5],
  ['a number beyond the safe integers', 'Ada', 2 ** 53],
  ['a number that is not finite', 'Ada', Number.NaN],
])('decode rejects a forged cursor with %s with 400', (_, name, id) => {
  const forged = cursor.encode(name, id);

  expect(() => cursor.decode(forged)).toThrow(expect.objectContaining({ status: 400 }));
});

test('decode rejects every cursor that differs in one character', () => {
  for (let at = 0; at < good.length; at++) {
    const changed = good.slice(0, at) + (good[at] === 'x' ? 'y' : 'x') + good.slice(at + 1);

    expect(() => cursor.decode(changed)).toThrow();
  }
});
