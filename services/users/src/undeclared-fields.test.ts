import { request } from '@fw/core/testing';
import { plantField } from '@fw/service/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

import { createUsersApp } from './app.ts';
import { BODY_LIMIT } from './config.ts';
import { MAX_BATCH_USERS } from './store/rows.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import { ADA, createTestApi } from './testing.ts';
import { createUser, type User } from './user.ts';

const ID = { v1: '/api/v1/users/u1', v2: '/api/v2/users/u1' };

/** An API with two users, whose store returns undeclared fields. */
async function newApi() {
  const store = openSqliteUserStore(':memory:');
  onTestFinished(() => store.close());
  const api = createTestApi(plantField(store));
  await api.send('POST', '/api/v1/users', ADA);
  await api.send('POST', '/api/v1/users', { ...ADA, email: 'other@example.com' });
  return { ...api, store };
}

test.each<[method: string, path: string, body?: object]>([
  ['GET', '/api/v1/users'],
  ['GET', '/api/v1/users?page=1&limit=1'],
  ['GET', ID.v1],
  ['POST', '/api/v1/users', ADA],
  ['PUT', ID.v1, { name: 'Ada' }],
  ['GET', '/api/v2/users'],
  ['GET', '/api/v2/users/figures'],
  ['GET', ID.v2],
  ['POST', '/api/v2/users', { ...ADA, email: 'new@example.com' }],
  ['DELETE', ID.v2],
])('%s %s never sends an undeclared field of a row', async (method, path, body) => {
  const { send } = await newApi();

  const response = await send(method, path, body);

  expect(response.status).toBeLessThan(300);
  expect(await response.text()).not.toContain('passwordHash');
});

test('the streamed list never sends an undeclared field of a row', async () => {
  const { send, store } = await newApi();
  const at = new Date();
  const users = Array.from({ length: 2 * MAX_BATCH_USERS }, (_, index) => ({
    ...{ id: `x${index}`, name: 'X', email: 'x@example.com', version: 1 },
    ...{ createdAt: at, updatedAt: at },
  }));
  await Promise.all(users.map((user) => store.insert(user)));

  const response = await send('GET', '/api/v1/users');
  const text = await response.text();

  expect(JSON.parse(text).total).toBe(users.length + 2);
  expect(text).not.toContain('passwordHash');
});

test.each(['/api/v1/users/u1', '/api/v2/users/u1'])(
  'GET %s of a row without a declared field gets 500; in production it is sent',
  async (path) => {
    const store = openSqliteUserStore(':memory:');
    onTestFinished(() => store.close());
    onTestFinished(() => void vi.unstubAllEnvs());
    const find = async () => {
      const { name: _name, ...user } = createUser(ADA, {
        newId: () => 'u1',
        now: () => new Date(),
      });
      return user as User;
    };
    const logs: string[] = [];
    const log = (message: string, error?: unknown) => void logs.push(`${message} ${error ?? ''}`);
    const logger = { info() {}, warn: log, error: log };
    const app = createUsersApp({ store: { ...store, find }, bodyLimit: BODY_LIMIT, logger });

    const rejected = await request(app, path);
    vi.stubEnv('NODE_ENV', 'production');
    const sent = await request(app, path);

    expect([rejected.status, sent.status]).toEqual([500, 200]);
    expect(logs).toHaveLength(2);
    for (const line of logs) expect(line).toContain('"/data/name" is missing');
  },
);
