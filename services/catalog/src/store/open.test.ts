import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { openDatabase } from '@fw/service/sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { VARIABLES } from '../config.ts';
import { newDirectory } from '../testing.ts';
import { openImport, openStore } from './open.ts';
import { createSqliteCatalogStore } from './sqlite.ts';
import { FORMAT } from './sqlite-tables.ts';

test('an import waits DATABASE_TIMEOUT_MS for a process that has locked the SQLite file', async () => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');
  const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '50' });
  const target = await openImport(config);
  const other = new DatabaseSync(DATABASE_FILE);
  onTestFinished(async () => {
    other.close();
    await target.close();
  });
  other.exec('BEGIN IMMEDIATE');

  const startedMs = performance.now();
  await expect(target.startOver()).rejects.toThrow('database is locked');

  // A database that is open waits 5 s unless it is given another time.
  expect(performance.now() - startedMs).toBeLessThan(4_000);
});

test.each([
  ['store', openStore],
  ['import', openImport],
] as const)(
  'opening the %s waits DATABASE_TIMEOUT_MS for a process that has locked a new SQLite file',
  async (_, open) => {
    const DATABASE_FILE = join(newDirectory(), 'catalog.db');
    const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '50' });
    const other = new DatabaseSync(DATABASE_FILE);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');

    const startedMs = performance.now();
    await expect(open(config)).rejects.toMatchObject({ status: 503 });

    // Without the variable, opening waits 5 s.
    expect(performance.now() - startedMs).toBeLessThan(4_000);
  },
);

test('the SQLite store waits for its timeoutMs', async () => {
  const database = openDatabase(':memory:', FORMAT);
  const store = createSqliteCatalogStore(database, { timeoutMs: 70 });
  onTestFinished(() => store.close());

  expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 70 });
});
