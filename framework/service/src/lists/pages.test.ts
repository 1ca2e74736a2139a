import { expect, test } from 'vitest';
import * as z from 'zod';

import { integerText, numberedPageQuery, pageOf, pageQuery, readPage } from './pages.ts';

const PAGE_SIZES = { defaultLimit: 20, maxLimit: 100 };
const PAGE = 'page must be a positive integer';
const LIMIT = 'limit must be between 1 and 100';

test.each([
  [{}, { page: 1, limit: 20, start: 0 }],
  [
    { page: '', limit: '' },
    { page: 1, limit: 20, start: 0 },
  ],
  [
    { page: '3', limit: '10' },
    { page: 3, limit: 10, start: 20 },
  ],
  [
    { page: ['2', 'x'], limit: ['5', '0'] },
    { page: 2, limit: 5, start: 5 },
  ],
  [{ limit: '1' }, { page: 1, limit: 1, start: 0 }],
  [{ limit: '100' }, { page: 1, limit: 100, start: 0 }],
  [
    { page: '0x10', limit: '1e1' },
    { page: 16, limit: 10, start: 150 },
  ],
  [
    { page: '9007199254740991' },
    { page: Number.MAX_SAFE_INTEGER, limit: 20, start: Number.MAX_SAFE_INTEGER },
  ],
])('readPage reads %j as %j', (query, page) => {
  expect(readPage(query, PAGE_SIZES)).toEqual(page);
});

test.each([
  [{ page: '0' }, PAGE],
  [{ page: '-1' }, PAGE],
  [{ page: '1.5' }, PAGE],
  [{ page: 'two' }, PAGE],
  [{ page: ' ' }, PAGE],
  [{ page: '9007199254740992' }, PAGE],
  [{ page: '1e300' }, PAGE],
  [{ page: '1e999' }, PAGE],
  [{ page: ['x', '1'] }, PAGE],
  [{ limit: '0' }, LIMIT],
  [{ limit: '101' }, LIMIT],
  [{ limit: '2.5' }, LIMIT],
  [{ limit: 'all' }, LIMIT],
  [{ limit: ['101', '5'] }, LIMIT],
])('readPage rejects %j: %s', (query, message) => {
  expect(() => readPage(query, PAGE_SIZES)).toThrow(message);
});

test.each([
  [{}, { limit: 20 }],
  [{ limit: '1' }, { limit: 1 }],
  [
    { limit: '100', cursor: 'aZ_-9' },
    { limit: 100, cursor: 'aZ_-9' },
  ],
])('pageQuery reads %j as %j', (query, expected) => {
  expect(z.object(pageQuery(PAGE_SIZES)).parse(query)).toEqual(expected);
});

test.each([
  ['limit', ['0', '101', '', 'x', '1.5', ['1']], 'Expected an integer from 1 to 100'],
  ['cursor', ['', 'a b', 'a=', '\n', '=a'], 'Expected a cursor that this list returned'],
  ['cursor', ['x'.repeat(2_001)], 'Too big'],
])('pageQuery rejects a wrong %s', (name, values, message) => {
  for (const value of values) {
    const { error } = z.object(pageQuery(PAGE_SIZES)).safeParse({ [name]: value });

    expect(error?.issues).toMatchObject([
      { path: [name], message: expect.stringContaining(message) },
    ]);
  }
});

test('integerText accepts any safe integer from its minimum, also as a number', () => {
  const schema = integerText({ from: 2 });

  expect(schema.parse('2')).toBe(2);
  expect(schema.parse(7)).toBe(7);
  expect(schema.parse('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  expect(schema.safeParse('1').success).toBe(false);
});

test('the document has the limits of lists', () => {
  const document = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' });

  expect(document(z.object(pageQuery(PAGE_SIZES)))).toMatchObject({
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum number of entries on the page',
      },
      cursor: { maxLength: 2_000, description: expect.stringMatching(/nextCursor/) },
    },
  });
  expect(
    document(numberedPageQuery({ maxLimit: 100, limitDescription: 'Items; default 20' })),
  ).toMatchObject({
    properties: {
      page: {
        anyOf: [{ type: 'integer', minimum: 1 }, { const: '' }],
        description: 'Number of the page, from 1; default 1',
      },
      limit: {
        anyOf: [{ type: 'integer', minimum: 1, maximum: 100 }, { const: '' }],
        description: 'Items; default 20',
      },
    },
  });
  expect(document(pageOf(z.string(), PAGE_SIZES))).toMatchObject({
    required: ['data', 'meta'],
    properties: {
      data: { type: 'array', items: { type: 'string' } },
      meta: {
        required: ['limit'],
        properties: {
          limit: { type: 'integer', minimum: 1, maximum: 100 },
          nextCursor: { description: 'Missing on the last page' },
        },
      },
    },
  });
});
