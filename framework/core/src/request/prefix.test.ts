import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createPrefixTest } from './path.ts';

test.each([
  ['/users/:id', '/users', false],
  ['/users/:id', '/users/7', true],
  ['/users/:id', '/USERS/7/posts', true],
  ['/users/:id/', '/users', false],
  ['/', '/', true],
  ['/', '/users', true],
  ['/users', '/user', false],
  ['/users', '/users-2', false],
  ['/users', '/users[', false],
  ['/[z]', '/[Z]', true],
  ['/[@]', '/{@]', false],
  ['/@', '/`', false],
])('prefix %s contains %s: %s', (prefix, path, expected) => {
  expect(createPrefixTest(prefix)(path)).toBe(expected);
});

test.each([
  ['/Users', '/Users/7', true],
  ['/Users', '/users/7', false],
  ['/users', '/Users/7', false],
  ['/AZ', '/az', false],
  ['/users/:ID', '/users/Seven', true],
])('prefix %s contains %s if case counts: %s', (prefix, path, expected) => {
  expect(createPrefixTest(prefix, true)(path)).toBe(expected);
});

/** A simple implementation that compares lists of segments. */
function contains(prefix: string, path: string): boolean {
  const requested = path.split('/').slice(1);
  const segments = prefix.split('/').slice(1).filter(Boolean);
  return segments.every((segment, at) =>
    segment.startsWith(':') ? !!requested[at] : segment === requested[at]?.toLowerCase(),
  );
}

test('matches the same paths as a comparison of segments, for 20,000 pairs', () => {
  const toPath = (segments: readonly string[]) => `/${segments.join('/')}`;
  const prefix = fc
    .array(fc.constantFrom('a', 'ab', ':p', ':q'), { maxLength: 4 })
    .map((segments) => toPath(segments));
  const path = fc
    .array(fc.constantFrom('a', 'A', 'ab', 'b', ''), { maxLength: 5 })
    .map((segments) => toPath(segments));

  fc.assert(
    fc.property(prefix, path, (prefix, path) => {
      expect(createPrefixTest(prefix)(path)).toBe(contains(prefix, path));
    }),
    { numRuns: 20_000 },
  );
});
