import { openConnection, recordLog } from '@fw/core/testing';
import { listen, ServiceUnavailableError } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { MAX_BATCH_USERS } from './store/rows.ts';
import type { PageOptions, UserStore } from './store.ts';
import { createTestApi, openTestStore, userOf } from './testing.ts';
import type { User } from './user.ts';

const USERS = '/api/v1/users';

/** Creates a store with `users`; `pages` records the calls of `page`. */
async function newStore(users: readonly User[]) {
  const store = openTestStore();
  await Promise.all(users.map((user) => store.insert(user)));
  const pages: PageOptions[] = [];
  const recording: UserStore = {
    ...store,
    async page(options) {
      pages.push(options);
      return store.page(options);
    },
  };
  return { store: recording, pages };
}

function manyUsers(count: number): readonly User[] {
  return Array.from({ length: count }, (_, at) => userOf(`u${at}`, { name: 'Zoë "李" 🙂' }));
}

function toV1({ id, name, email, createdAt, updatedAt }: User) {
  return { id, name, email, createdAt, updatedAt };
}

test.each([0, 1, MAX_BATCH_USERS, MAX_BATCH_USERS + 1, 3 * MAX_BATCH_USERS])(
  'the list of %i users is complete JSON',
  async (count) => {
    const users = manyUsers(count);
    const { store } = await newStore(users);

    const response = await createTestApi({ store }).send('GET', USERS);

    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(JSON.stringify({ data: users.map(toV1), total: count }));
  },
);

test('a list whose users are all deleted while it is sent is empty', async () => {
  const { store } = await newStore([]);
  const emptied: UserStore = {
    ...store,
    list: async () => ({ users: [], total: 2, next: 1 }),
  };

  const response = await createTestApi({ store: emptied }).send('GET', USERS);

  expect(await response.json()).toEqual({ data: [], total: 0 });
});

test('a page of several batches is complete JSON', async () => {
  const name = '🙂'.repeat(200);
  const users = manyUsers(150).map((user) => ({ ...user, name, email: name }));
  const { store, pages } = await newStore(users);

  const response = await createTestApi({ store }).send('GET', `${USERS}?page=2&limit=100`);

  const data = users.slice(100).map(toV1);
  const meta = { total: 150, page: 2, limit: 100 };
  expect(await response.text()).toBe(JSON.stringify({ data, meta }));
  expect(pages).toHaveLength(1);
});

test('HEAD of a long list has the headers of GET and reads one batch', async () => {
  const { store, pages } = await newStore(manyUsers(5 * MAX_BATCH_USERS));

  const response = await createTestApi({ store }).send('HEAD', USERS);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await response.text()).toBe('');
  expect(pages.length).toBeLessThan(2);
});

test('total is the number of sent users, even if users are created and deleted while it is sent', async () => {
  const { store } = await newStore(manyUsers(3 * MAX_BATCH_USERS));
  const changing: UserStore = {
    ...store,
    async page(options) {
      await store.delete(`u${MAX_BATCH_USERS + 5}`);
      await store.insert(userOf(crypto.randomUUID()));
      await store.insert(userOf(crypto.randomUUID()));
      return store.page(options);
    },
  };

  const response = await createTestApi({ store: changing }).send('GET', USERS);

  const { data, total } = (await response.json()) as { data: User[]; total: number };
  expect(total).toBe(data.length);
  expect(new Set(data.map(({ id }) => id)).size).toBe(3 * MAX_BATCH_USERS);
});

test('a list whose remaining users are deleted while it is sent ends after the sent users', async () => {
  const { store } = await newStore(manyUsers(2 * MAX_BATCH_USERS));
  const emptied: UserStore = { ...store, page: async () => ({ users: [] }) };

  const response = await createTestApi({ store: emptied }).send('GET', USERS);

  expect(await response.json()).toMatchObject({ total: MAX_BATCH_USERS });
});

test('a store failure in the middle of a list closes the connection and is logged', async () => {
  const { store } = await newStore(manyUsers(2 * MAX_BATCH_USERS));
  const { errors, logger } = recordLog();
  const failing: UserStore = {
    ...store,
    page: () => Promise.reject(new ServiceUnavailableError('the store is unavailable')),
  };
  const { app } = createTestApi({ store: failing, logger });
  const server = await listen(app, 0);
  onTestFinished(() => server.close());

  const connection = openConnection(server.port);
  const received = await connection.send(`GET ${USERS} HTTP/1.1\r\nHost: a\r\n\r\n`).readAll();

  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(received).not.toContain('"total"');
  expect(received.endsWith('0\r\n\r\n')).toBe(false);
  expect(errors).toHaveLength(1);
});
