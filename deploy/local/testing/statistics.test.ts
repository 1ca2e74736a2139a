import { expect, test } from 'vitest';

import { median, rotate } from './statistics.ts';

test.each([
  [[3], 3],
  [[10, 1, 9], 9],
  [[4, 1, 3, 2], 2.5],
])('median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('median rejects an empty list', () => {
  expect(() => median([])).toThrow('Cannot compute the median of no values');
});

test('rotate starts with each contestant once', () => {
  const firsts = [0, 1, 2, 3].map((round) => rotate(['a', 'b', 'c'], round).join(''));

  expect(firsts).toEqual(['abc', 'bca', 'cab', 'abc']);
});
