import { expect, test } from 'vitest';

import { clientNameOf } from './mount-versions.ts';

function nameOf(headers: Readonly<Record<string, string>>): string {
  return clientNameOf({ get: (name: string) => headers[name.toLowerCase()] });
}

test.each([
  ['curl/8.5.0', 'curl'],
  ['fw-reports', 'fw-reports'],
  ['Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', 'Mozilla'],
  ['python-requests/2.32', 'python-requests'],
  ['', 'none'],
  ['"quoted"/1', 'none'],
  ['(comment only)', 'none'],
  ['ünïcode/1', 'none'],
  [`${'x'.repeat(65)}/1`, 'none'],
])('the client with User-Agent %j is %s', (userAgent, name) => {
  expect(nameOf({ 'user-agent': userAgent })).toBe(name);
});

test.each([
  ['billing', 'billing'],
  ['billing-2.eu_west', 'billing-2.eu_west'],
  ['two words', 'curl'],
  ['a\nb', 'curl'],
  ['x'.repeat(65), 'curl'],
  ['', 'curl'],
])('the client with X-Client-Id %j is %s', (id, name) => {
  expect(nameOf({ 'x-client-id': id, 'user-agent': 'curl/8.5.0' })).toBe(name);
});

test('a client without both headers is none', () => {
  expect(nameOf({})).toBe('none');
});
