import type { DatabaseSync } from 'node:sqlite';

import { openDatabase } from '@fw/service/sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { describeUserStore, manyUsers } from '../store.test-suite.ts';
import { newFile, userOf } from '../testing.ts';
import { openSqliteUserStore } from './sqlite.ts';
import { USERS_FORMAT } from './sqlite-migrations.ts';

const cyd = userOf('cyd');

describeUserStore('SQLite store in a file', async () => openSqliteUserStore(newFile()));
describeUserStore('SQLite store in memory', async () => openSqliteUserStore(':memory:'));

test('close stores the pending changes, and a store that is opened again returns them', async () => {
  const file = newFile();
  const store = openSqliteUserStore(file);

  const inserted = store.insert(cyd);
  await store.close();

  expect(await inserted).toEqual(cyd);
  const again = openSqliteUserStore(file);
  onTestFinished(() => again.close());
  expect(await again.list()).toEqual({ users: [cyd], total: 1 });
});

test('a file of format 1 is migrated with its users, and they are counted', async () => {
  const file = newFile();
  const old = openFormat(1, file);
  insertAsFormat1(old, 'ada', 'Ada@Example.com');
  old.close();

  const store = openSqliteUserStore(file);
  onTestFinished(() => store.close());

  expect(await store.find('ada')).toMatchObject({ email: 'Ada@Example.com', version: 1 });
  expect((await store.page({ limit: 9, email: 'ada@example.com' })).users).toHaveLength(1);
  expect(await store.figures({ days: 1, domains: 9, now: new Date(0) })).toEqual({
    total: 1,
    byDay: [{ date: '1970-01-01', count: 1 }],
    byDomain: [{ domain: 'example.com', count: 1 }],
  });
});

test('the store sees each change by a concurrent program of format 1', async () => {
  const file = newFile();
  const old = openFormat(1, file);
  const store = openSqliteUserStore(file);
  onTestFinished(async () => {
    old.close();
    await store.close();
  });

  insertAsFormat1(old, 'ada', 'ada@example.com');
  insertAsFormat1(old, 'bob', 'ada@example.com');
  old.exec("UPDATE users SET email = 'ADA@example.org' WHERE id = 'ada'");
  old.exec("DELETE FROM users WHERE id = 'bob'");

  expect(await store.find('ada')).toMatchObject({ email: 'ADA@example.org', version: 2 });
  expect(await store.delete('ada', 1)).toBe('stale');
  const unique = { ...cyd, email: 'ada@example.org' };
  expect(await store.insert(unique, { uniqueEmail: true })).toBe('email-taken');
  const { total, byDomain } = await store.figures({ days: 1, domains: 9, now: new Date(0) });
  expect([total, byDomain]).toEqual([1, [{ domain: 'example.org', count: 1 }]]);
});

test('slices of many users are complete after a migration and deletions', async () => {
  const file = newFile();
  const old = openFormat(2, file);
  old.exec(manyUsers.insert('0'));
  old.exec(manyUsers.deleteBefore);
  const store = openSqliteUserStore(file);
  onTestFinished(() => store.close());
  old.exec(manyUsers.deleteAfter);
  old.close();

  await manyUsers.check(store);
});

/** Opens the file as a program of this format does. */
function openFormat(format: number, file: string): DatabaseSync {
  const migrations = USERS_FORMAT.migrations.slice(0, format);
  return openDatabase(file, { ...USERS_FORMAT, migrations });
}

function insertAsFormat1(database: DatabaseSync, id: string, email: string): void {
  database
    .prepare('INSERT INTO users (id, name, email, created_at, updated_at) VALUES (?, ?, ?, 0, 0)')
    .run(id, id, email);
}
