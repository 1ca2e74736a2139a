import { request } from '@fw/core/testing';
import { createApp, errorHandler } from 'fw';
import { expect, test } from 'vitest';
import * as z from 'zod';

import { integerText, numberedPageQuery, pageOf, pageQuery, readPart } from './pages.ts';

const PAGE_SIZES = { defaultLimit: 20, maxLimit: 100 };
const NUMBERED = numberedPageQuery({ ...PAGE_SIZES, limitDescription: 'Items; default 20' });
const BAD_PAGE = 'page must be a positive integer';
const BAD_LIMIT = 'limit must be between 1 and 100';

/** Sends a request to a list by page number. */
function list(query: string): Promise<Response> {
  const app = createApp().use(errorHandler());
  return request(
    app.get('/', (ctx) => readPart(NUMBERED, ctx.query)),
    `/?${query}`,
  );
}

test.each([
  ['', 1, 20, 0],
  ['page=&limit=', 1, 20, 0],
  ['page=&page=2', 1, 20, 0],
  ['page=3&limit=10', 3, 10, 20],
  ['page=2&page=x&limit=5&limit=0', 2, 5, 5],
  ['limit=1', 1, 1, 0],
  ['limit=100', 1, 100, 0],
  ['limit=%205%20', 1, 5, 0],
  ['page=0x10&limit=1e1', 16, 10, 150],
  ['page=9007199254740991', Number.MAX_SAFE_INTEGER, 20, Number.MAX_SAFE_INTEGER],
])('the query "%s" of a list by page number is page %i of %i entries', async (query, ...page) => {
  const [number, limit, start] = page;

  expect(await (await list(query)).json()).toEqual({ page: number, limit, start });
});

test.each([
  ['page=0', BAD_PAGE],
  ['page=-1', BAD_PAGE],
  ['page=1.5', BAD_PAGE],
  ['page=two', BAD_PAGE],
  ['page=%20', BAD_PAGE],
  ['page=9007199254740992', BAD_PAGE],
  ['page=1e999', BAD_PAGE],
  ['page=x&page=1', BAD_PAGE],
  ['page=0&limit=0', BAD_PAGE],
  ['limit=0', BAD_LIMIT],
  ['limit=101', BAD_LIMIT],
  ['limit=2.5', BAD_LIMIT],
  ['limit=all', BAD_LIMIT],
  ['limit=101&limit=5', BAD_LIMIT],
])('the query "%s" of a list by page number gets 400: %s', async (query, detail) => {
  const response = await list(query);

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'BAD_REQUEST', detail });
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
  expect(document(NUMBERED)).toMatchObject({
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
