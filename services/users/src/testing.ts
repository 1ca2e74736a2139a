import { request } from '@fw/core/testing';
import { onTestFinished } from 'vitest';

import { createUsersApp } from './app.ts';
import { BODY_LIMIT } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import type { UserStore } from './store.ts';

/** The user that most tests create. */
export const ADA = { name: 'Ada', email: 'ada@example.com' };
export const TEN = '2026-11-21T10:00:00.000Z';
export const NOON = '2026-11-21T12:00:00.000Z';

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
  idPrefix = 'u',
} = {}) {
  const clock = { time: TEN };
  let ids = 0;
  const app = createUsersApp({
    store,
    newId: () => `${idPrefix}${++ids}`,
    now: () => new Date(clock.time),
    bodyLimit,
  });
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    request(app, path, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return { app, clock, send };
}
