import { expect, test } from 'vitest';

import { readInteger } from './variables.ts';

test.each([
  ['0', 0],
  ['7', 7],
  ['-7', -7],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['-9007199254740991', Number.MIN_SAFE_INTEGER],
])('readInteger reads %j', (text, value) => {
  expect(readInteger(text)).toBe(value);
});

test.each([
  '',
  ' ',
  '-',
  '-0',
  '+1',
  ' 1',
  '1 ',
  '1\n',
  '007',
  '0x10',
  '0b1',
  '1e3',
  '1.0',
  '1_000',
  '1,000',
  '１',
  'NaN',
  'Infinity',
  '9007199254740992',
  '9'.repeat(400),
])('readInteger returns undefined for %j', (text) => {
  expect(readInteger(text)).toBeUndefined();
});
