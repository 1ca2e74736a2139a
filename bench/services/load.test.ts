import { expect, test } from 'vitest';

import { numbered } from './endpoint.ts';
import { toLua } from './load.ts';

test('a plan is a Lua expression in which no text can end its own quotes', () => {
  expect(toLua({ a: ['"]', 7], b: undefined })).toBe('{["\\097"]={"\\034\\093","\\055"}}');
});

test('a number takes the place that is kept for it, wherever that is', () => {
  const request = {
    method: 'POST' as const,
    path: '/NNNNNNNNNNNN',
    headers: { 'idempotency-key': 'NNNNNNNNNNNN' },
    body: '{"email":"ada.NNNNNNNNNNNN@example.org"}',
  };

  expect(numbered(request, 7)).toEqual({
    method: 'POST',
    path: '/000000000007',
    headers: { 'idempotency-key': '000000000007' },
    body: '{"email":"ada.000000000007@example.org"}',
  });
});
