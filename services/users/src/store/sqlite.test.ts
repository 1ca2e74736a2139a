import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { createUser } from '../user.ts';
import { describeUserStore } from './contract.ts';
import { openSqliteUserStore } from './sqlite.ts';

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'users.db');
}

describeUserStore('the SQLite store in a file', async () => openSqliteUserStore(newFile()));
describeUserStore('the SQLite store in memory', async () => openSqliteUserStore(':memory:'));

test('two stores on one file see what the other has written', async () => {
  const file = newFile();
  const [one, other] = [openSqliteUserStore(file), openSqliteUserStore(file)];
  onTestFinished(async () => {
    await one.close();
    await other.close();
  });
  const origins = { newId: () => crypto.randomUUID(), now: () => new Date() };
  const ada = createUser({ name: 'Ada', email: 'ada@example.com' }, origins);
  const bob = createUser({ name: 'Bob', email: 'bob@example.com' }, origins);

  await one.insert(ada);
  await other.insert(bob);

  expect(await one.list()).toEqual({ users: [ada, bob], total: 2 });
  expect(await other.list()).toEqual({ users: [ada, bob], total: 2 });
});

test('a store that is opened again has what it had', async () => {
  const file = newFile();
  const first = openSqliteUserStore(file);
  const origins = { newId: () => 'ada', now: () => new Date(0) };
  await first.insert(createUser({ name: 'Ada', email: 'ada@example.com' }, origins));
  await first.close();

  const again = openSqliteUserStore(file);
  onTestFinished(() => again.close());

  expect(await again.find('ada')).toMatchObject({ name: 'Ada', createdAt: new Date(0) });
});
