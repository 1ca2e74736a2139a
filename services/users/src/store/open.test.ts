import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { expect, onTestFinished, test } from 'vitest';

import { VARIABLES } from '../config.ts';
import { openStore } from './open.ts';
import { openSqliteUserStore } from './sqlite.ts';

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'users.db');
}

test('openStore opens the users in DATABASE_FILE', async () => {
  const DATABASE_FILE = newFile();
  const other = openSqliteUserStore(DATABASE_FILE);
  onTestFinished(() => other.close());
  const createdAt = new Date(0);
  const ada = { id: 'ada', name: '', email: '', createdAt, updatedAt: createdAt, version: 1 };
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
