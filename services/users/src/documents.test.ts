import { join } from 'node:path';

import { plantField } from '@fw/service/testing';
import { testDocuments, testUndeclaredFields } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { MAX_BATCH_USERS } from './store/rows.ts';
import { ADA, createTestApi, openTestStore, userOf } from './testing.ts';

testDocuments(join(import.meta.dirname, '../openapi'), ['v1', 'v2'], () => createTestApi().app);

const ID = { v1: '/api/v1/users/u1', v2: '/api/v2/users/u1' };

/** An API with two users, whose store returns undeclared fields. */
async function newApi() {
  const store = openTestStore();
  const { send } = createTestApi({ store: plantField(store) });
  await send('POST', '/api/v1/users', ADA);
  await send('POST', '/api/v1/users', { ...ADA, email: 'other@example.com' });
  return { send, store };
}

testUndeclaredFields(
  async () => (await newApi()).send,
  [
    ['GET', '/api/v1/users'],
    ['GET', '/api/v1/users?page=1&limit=1'],
    ['GET', ID.v1],
    ['POST', '/api/v1/users', ADA],
    ['PUT', ID.v1, { name: 'Ada' }],
    ['GET', '/api/v2/users'],
    ['GET', '/api/v2/users/figures'],
    ['GET', ID.v2],
    ['POST', '/api/v2/users', { ...ADA, email: 'new@example.com' }],
    ['PATCH', ID.v2, { name: 'Ada' }],
    ['DELETE', ID.v2],
  ],
);

test('the streamed list never sends an undeclared field', async () => {
  const { send, store } = await newApi();
  const users = Array.from({ length: 2 * MAX_BATCH_USERS }, (_, at) => userOf(`x${at}`));
  await Promise.all(users.map((user) => store.insert(user)));

  const response = await send('GET', '/api/v1/users');
  const text = await response.text();

  expect(JSON.parse(text).total).toBe(users.length + 2);
  expect(text).not.toContain('passwordHash');
});
