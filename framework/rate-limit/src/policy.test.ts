import { expect, test } from 'vitest';

import { createPolicy, readDuration } from './policy.ts';

test.each([
  [
    {},
    {
      name: '100-per-1m',
      algorithm: 'sliding-window',
      max: 100,
      windowMs: 60_000,
      burst: 100,
    },
  ],
  [
    { max: 5, window: 1_500, algorithm: 'token-bucket', burst: 9 } as const,
    { name: '5-per-1500ms', algorithm: 'token-bucket', max: 5, windowMs: 1_500, burst: 9 },
  ],
])('the options %j have the policy %j', (options, policy) => {
  expect(createPolicy('rateLimit()', options)).toEqual(policy);
});

test.each([
  ['250ms', 250],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['366d', 31_622_400_000],
  [1_500, 1_500],
])('a window of %j is %i ms', (window, milliseconds) => {
  expect(readDuration(window)).toBe(milliseconds);
});

test.each([
  '',
  '1 m',
  '1.5m',
  '0s',
  '01s',
  '1M',
  '1m1s',
  '367d',
  0,
  1.5,
  Number.POSITIVE_INFINITY,
  null,
])('a window of %j is rejected', (window) => {
  expect(readDuration(window)).toBeUndefined();
});
