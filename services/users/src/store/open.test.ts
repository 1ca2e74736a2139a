import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { expect, onTestFinished, test } from 'vitest';

import { VARIABLES } from '../config.ts';
import { openStore } from './open.ts';

test('opening the store waits DATABASE_TIMEOUT_MS for a process that has locked a new SQLite file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  const DATABASE_FILE = join(directory, 'users.db');
  const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '50' });
  const other = new DatabaseSync(DATABASE_FILE);
  onTestFinished(() => {
    other.close();
    rmSync(directory, { recursive: true });
  });
  other.exec('BEGIN IMMEDIATE');

  const startedMs = performance.now();
  await expect(openStore(config)).rejects.toMatchObject({ status: 503 });

  // Without the variable, opening waits 5 s.
  expect(performance.now() - startedMs).toBeLessThan(4_000);
});
