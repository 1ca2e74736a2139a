import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { BadRequestError } from '../response/http-error.ts';
import { quiet, request } from '../testing/index.ts';
import { parseQuery } from './request-target.ts';

const app = createApp({ logger: quiet }).use((ctx) => {
  ctx.json({ query: ctx.query, prototype: Object.getPrototypeOf(ctx.query) });
});

describe('a query', () => {
  test.each<readonly [string, Record<string, string | string[]>]>([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['a', { a: '' }],
    ['=a', { '': 'a' }],
    ['a=b+c', { a: 'b c' }],
    ['a%5B%5D=1', { 'a[]': '1' }],
    ['a=%F0%9F%98%80', { a: '😀' }],
    [
      'toString=1&constructor=2&hasOwnProperty=3',
      { toString: '1', constructor: '2', hasOwnProperty: '3' },
    ],
    ['__proto__=1&__proto__=2', JSON.parse('{"__proto__":["1","2"]}')],
  ])('%j is parsed in form encoding', async (text, query) => {
    const response = await request(app, `/?${text}`);

    expect(await response.json()).toEqual({ query, prototype: null });
  });

  test('may have up to 1,000 keys', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`).join('&');

    expect(Object.keys(parseQuery(keys(1_000)))).toHaveLength(1_000);
    expect(() => parseQuery(keys(1_001))).toThrow('The query has more than 1000 keys');
  });
});

/** The expected result, parsed with URLSearchParams; `undefined` for an invalid query. */
function readByPlatform(text: string): Record<string, string[]> | undefined {
  const isWellFormed = text.split(/[&=]/).every((field) => {
    try {
      return decodeURIComponent(field) !== undefined;
    } catch {
      return false;
    }
  });
  if (!isWellFormed || text.split('&').length > 1000) return undefined;
  const model: Record<string, string[]> = Object.create(null);
  for (const [key, value] of new URLSearchParams(`?${text}`)) {
    model[key] ??= [];
    model[key].push(value);
  }
  return model;
}

/** Valid and invalid parts of queries. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', '=', '&', '+', '%20', '%C3%A9', '__proto__') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...'% %z %FF %00 %2B %25 ? / %F0%9F%98%80 %ED%A0%80'.split(' ')),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  },
);
const anyQuery = fc
  .array(piece, { maxLength: 30 })
  .map((pieces) => pieces.join('').replaceAll('#', ''));

test('generated queries are parsed like URLSearchParams, or get 400', () => {
  let rejected = 0;

  fc.assert(
    fc.property(anyQuery, (text) => {
      const expected = readByPlatform(text);
      if (expected === undefined) {
        rejected++;
        expect(() => parseQuery(text)).toThrow(BadRequestError);
        return;
      }
      const actual = Object.entries(parseQuery(text)).map(([key, value]) => [key, [value].flat()]);
      if (JSON.stringify(actual) !== JSON.stringify(Object.entries(expected))) {
        throw new Error(`${text} was read as ${JSON.stringify(actual)}`);
      }
    }),
    { numRuns: 25_000 },
  );

  expect(rejected).toBeGreaterThan(1_000);
  expect(rejected).toBeLessThan(20_000);
});
