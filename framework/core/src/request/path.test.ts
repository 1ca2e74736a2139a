import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createPrefixTest, foldCase, normalizePath, readPattern } from './path.ts';

test.each([
  ['/', '/'],
  ['/users/7', '/users/7'],
  ['/Users/', '/Users/'],
  ['//a//', '//a//'],
  ['/.a/a./.../..a', '/.a/a./.../..a'],
  ['/!$&\'()*+,;=:@-._~|^`{}"<>[]', '/!$&\'()*+,;=:@-._~|^`{}"<>[]'],
  ['/%6De/%7e/%7E', '/me/~/~'],
  ['/caf%c3%a9/%f0%9f%98%80', '/caf%C3%A9/%F0%9F%98%80'],
  ['/a%20b/%7f/%09', '/a%20b/%7F/%09'],
  ['/a%2fb%3fc%23d%25e', '/a%2Fb%3Fc%23d%25e'],
  ['/%252f', '/%252f'],
])('the normal form of %s is %s', (path, normal) => {
  expect(normalizePath(path)).toBe(normal);
  expect(normalizePath(normal)).toBe(normal);
});

test.each([
  ['', 'no slash at the start'],
  ['a', 'no slash at the start'],
  ['%2Fa', 'no slash at the start'],
  ['/.', 'a step to the same folder'],
  ['/./a', 'a step to the same folder'],
  ['/a/%2E', 'a step to the same folder'],
  ['/..', 'a step up'],
  ['/a/../b', 'a step up'],
  ['/a/.%2e', 'a step up'],
  ['/a%2F..', 'a step up'],
  ['/a%2f.%2Fb', 'a step to the same folder'],
  ['/a\\b', 'a backslash'],
  ['/a%5cb', 'a backslash'],
  ['/a%00b', 'a NUL'],
  ['/a\0', 'a NUL'],
  ['/a b', 'a raw space'],
  ['/%61/\x7f', 'a raw control character'],
  ['/é', 'a raw letter that is not ASCII'],
  ['/a#b', 'a fragment'],
  ['/a?b', 'a query'],
  ['/%', 'an incomplete escape'],
  ['/%6', 'an incomplete escape'],
  ['/%zz', 'a malformed escape'],
  ['/%C0%AF', 'an overlong escape'],
  ['/%E2%82', 'an incomplete character'],
])('%j has no normal form: %s', (path) => {
  expect(normalizePath(path)).toBeUndefined();
});

test('case folding changes ASCII letters only', () => {
  expect(foldCase('/ABC-xyz_Z/É')).toBe('/abc-xyz_z/É');
});

test.each([
  ['/', '/'],
  ['/users/:id/', '/users/:id/'],
  ['/files/*', '/files/*'],
  ['/café au lait/😀', '/caf%C3%A9%20au%20lait/%F0%9F%98%80'],
  ['/%6De', '/me'],
])('a program can register %s, which requests send as %s', (pattern, path) => {
  expect(readPattern(pattern, 'Cannot')).toBe(path);
});

test.each([
  [undefined, 'expected a path as text, such as "/users/:id"; "/*" at the end matches any rest'],
  ['users', 'the path must start with "/"'],
  ['/a//b', 'the path must not have an empty segment'],
  [
    '/a/:id?',
    'a parameter is ":" and a name; optional parameters and regular expressions are not supported',
  ],
  [
    '/a/:user-id(\\d+)',
    'a parameter is ":" and a name; optional parameters and regular expressions are not supported',
  ],
  ['/a?b', 'no request can have this path'],
  ['/a/:?', 'no request can have this path'],
  ['/a:id?', 'no request can have this path'],
  ['/a/../b', 'no request can have this path'],
  ['/%', 'no request can have this path'],
  ['/\ud800', 'no request can have this path'],
])('the path %j is rejected: %s', (pattern, expected) => {
  expect(() => readPattern(pattern as string, 'Cannot register')).toThrow(
    new TypeError(`Cannot register: ${expected}`),
  );
});

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

test('a prefix contains the same paths as a comparison of segments, for 20,000 pairs', () => {
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
