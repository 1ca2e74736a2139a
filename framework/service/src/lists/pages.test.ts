import { expect, test } from 'vitest';

import { readPage } from './pages.ts';

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
