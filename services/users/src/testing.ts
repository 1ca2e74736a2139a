import { join } from 'node:path';

import { quiet } from '@fw/core/testing';
import { sendTo } from '@fw/service/testing';
import { newFolder } from '@fw/service/testing/vitest';
import { onTestFinished } from 'vitest';

import { createUsersApp } from './app.ts';
import { BODY_LIMIT } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import type { UserStore } from './store.ts';
import type { User } from './user.ts';

/** The user that most tests create. */
export const ADA = { name: 'Ada', email: 'ada@example.com' };
export const TEN = '2026-11-21T10:00:00.000Z';
export const NOON = '2026-11-21T12:00:00.000Z';

/** Creates a user as a store has it. */
export function userOf(id: string, changes: Partial<User> = {}): User {
  const createdAt = new Date(TEN);
  const times = { createdAt, updatedAt: createdAt };
  return {
    id,
    name: id.toUpperCase(),
    email: `${id}@example.com`,
    ...times,
    version: 1,
    ...changes,
  };
}

/** The path of a new SQLite file, which is removed after the test. */
export function newFile(): string {
  return join(newFolder(), 'users.db');
}

/** Opens an empty store that is closed after the test. */
export function openTestStore(): UserStore {
  const store = openSqliteUserStore(':memory:');
  onTestFinished(() => store.close());
  return store;
}

/** Creates the API. The time is `TEN` until a test changes `clock`; ids are u1, u2 and so on. */
export function createTestApi({
  store = openTestStore(),
  bodyLimit = BODY_LIMIT,
  logger = quiet,
} = {}) {
  const clock = { time: TEN };
  let ids = 0;
  const app = createUsersApp({
    store,
    logger,
    newId: () => `u${++ids}`,
    now: () => new Date(clock.time),
    bodyLimit,
  });
  return { app, clock, send: sendTo(app) };
}
