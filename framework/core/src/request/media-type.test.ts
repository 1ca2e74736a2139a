import { expect, test } from 'vitest';

import { parseMediaType, trimBlanks } from './media-type.ts';

test.each<[string, string, Record<string, string>]>([
  ['text/html', 'text/html', {}],
  ['Text/HTML', 'text/html', {}],
  ['application/vnd.api+json', 'application/vnd.api+json', {}],
  ['text/html;charset=utf-8', 'text/html', { charset: 'utf-8' }],
  ['text/html \t; \tcharset=utf-8 \t', 'text/html', { charset: 'utf-8' }],
  ['text/html;CharSet=UTF-8', 'text/html', { charset: 'UTF-8' }],
  ['text/html;charset="utf-8"', 'text/html', { charset: 'utf-8' }],
  ['text/html;a="";b="; c=1"', 'text/html', { a: '', b: '; c=1' }],
  ['text/html;a="say \\"hi\\" \\\\"', 'text/html', { a: 'say "hi" \\' }],
  ['text/html;a=1;a=2', 'text/html', { a: '2' }],
  ['text/html;', 'text/html', {}],
  ['text/html; ;a=1;', 'text/html', { a: '1' }],
])('the media type of %j', (header, type, parameters) => {
  const media = parseMediaType(header);

  expect(media?.type).toBe(type);
  expect(Object.fromEntries(media?.parameters ?? [])).toEqual(parameters);
});

test.each([
  '',
  'text',
  'text/',
  '/html',
  ' text/html',
  'text/html, text/plain',
  'text/html charset=utf-8',
  'text/html;charset',
  'text/html;charset=',
  'text/html;charset =utf-8',
  'text/html;=utf-8',
  'text/html;charset="utf-8',
  'text/html;charset="utf-8"x',
  'text/html;charset="\\é"',
])('%j is not a media type', (header) => {
  expect(parseMediaType(header)).toBeUndefined();
});

// Linear work takes milliseconds; quadratic work would not end before the time limit of a test.
test.each([
  ['blanks', 'a/b;'.padEnd(1_600_000)],
  ['empty parameters', `a/b${';'.repeat(1_600_000)}"`],
  ['escapes without end', `a/b;c="${'\\"'.repeat(800_000)}`],
])('%s in a long Content-Type are read once', (_, header) => {
  expect(() => parseMediaType(header)).not.toThrow();
});

test.each([
  ['', ''],
  [' \t', ''],
  ['\t a b \t', 'a b'],
  ['a', 'a'],
  ['\u00a0a\u00a0', '\u00a0a\u00a0'],
  ['\na\n', '\na\n'],
])('%j without the spaces and tabs around it is %j', (text, trimmed) => {
  expect(trimBlanks(text)).toBe(trimmed);
});
