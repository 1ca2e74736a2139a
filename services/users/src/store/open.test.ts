import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { expect, onTestFinished, test } from 'vitest';

import { VARIABLES } from '../config.ts';
import { newFile, userOf } from '../testing.ts';
import { openStore } from './open.ts';
import { openSqliteUserStore } from './sqlite.ts';

test('openStore opens the users in DATABASE_FILE', async () => {
  const DATABASE_FILE = newFile();
  const other = openSqliteUserStore(DATABASE_FILE);
  onTestFinished(() => other.close());
  const ada = userOf('ada');
  await other.insert(ada);

  const store = await openStore(readConfig(VARIABLES, { DATABASE_FILE }));
  onTestFinished(() => store.close());

  expect(await store.find('ada')).toEqual(ada);
});

test('opening the store waits DATABASE_TIMEOUT_MS for another process that locks the SQLite file', async () => {
  const DATABASE_FILE = newFile();
  const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '50' });
  const other = new DatabaseSync(DATABASE_FILE);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');

  const startedMs = performance.now();
  await expect(openStore(config)).rejects.toMatchObject({ status: 503 });

  const tookMs = performance.now() - startedMs;
  expect(tookMs).toBeGreaterThan(45);
  expect(tookMs).toBeLessThan(1_000); // the default of the store
});
