import { expect, test } from 'vitest';

import { EXCHANGES, REFUSED_BODY, RESOURCES, readUser, UserSchema } from './workloads.ts';

test('the body that is posted has 100 bytes', () => {
  expect(EXCHANGES.post.map(({ body }) => Buffer.byteLength(body ?? ''))).toEqual([100]);
});

test('the parameter workload asks for each of 200 routes as often as for any other', () => {
  const asked = Object.groupBy(EXCHANGES.parameter, ({ path }) => path.split('/')[3] ?? '');

  expect(new Set(RESOURCES).size).toBe(200);
  expect(Object.keys(asked).toSorted()).toEqual(RESOURCES.toSorted());
  expect(new Set(Object.values(asked).map((paths) => paths?.length))).toEqual(new Set([5]));
});

test.each([
  null,
  'text',
  [],
  {},
  { name: 'Ada', email: 'ada@example.org' },
  { name: 'Ada', email: 'ada@example.org', role: '' },
  { name: 'Ada', email: 1, role: 'engineer' },
  JSON.parse(REFUSED_BODY),
])('readUser and UserSchema refuse %j', (body) => {
  expect(readUser(body)).toBeUndefined();
  expect(UserSchema.safeParse(body).success).toBe(false);
});

test('readUser and UserSchema keep the same fields', () => {
  const user = { name: 'Ada', email: 'ada@example.org', role: 'engineer' };
  const body = { ...user, admin: true };

  expect([readUser(body), UserSchema.parse(body)]).toEqual([user, user]);
});
