import { expect, test } from 'vitest';

import { EXCHANGES, INVALID_BODY, RESOURCES, readUser, UserSchema } from './workloads.ts';

test('the posted body has 100 bytes', () => {
  expect(EXCHANGES.post.map(({ body }) => Buffer.byteLength(body ?? ''))).toEqual([100]);
});

test('the parameter workload requests each of 200 routes equally often', () => {
  const requested = Object.groupBy(EXCHANGES.parameter, ({ path }) => path.split('/')[3] ?? '');

  expect(new Set(RESOURCES).size).toBe(200);
  expect(Object.keys(requested).toSorted()).toEqual(RESOURCES.toSorted());
  expect(new Set(Object.values(requested).map((paths) => paths?.length))).toEqual(new Set([5]));
});

test.each([
  null,
  'text',
  [],
  {},
  { name: 'Ada', email: 'ada@example.org' },
  { name: 'Ada', email: 'ada@example.org', role: '' },
  { name: 'Ada', email: 1, role: 'engineer' },
  JSON.parse(INVALID_BODY),
])('readUser and UserSchema reject %j', (body) => {
  expect(readUser(body)).toBeUndefined();
  expect(UserSchema.safeParse(body).success).toBe(false);
});

test('readUser and UserSchema keep the same fields', () => {
  const user = { name: 'Ada', email: 'ada@example.org', role: 'engineer' };
  const body = { ...user, admin: true };

  expect([readUser(body), UserSchema.parse(body)]).toEqual([user, user]);
});
