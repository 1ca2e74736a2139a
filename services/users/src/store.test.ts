import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { expect, onTestFinished, test } from 'vitest';

import { VARIABLES } from './config.ts';
import { openStore } from './store.ts';

test('opening the store waits DATABASE_TIMEOUT_MS for another process that locks the SQLite file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  const DATABASE_FILE = join(directory, 'users.db');
  const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '1500' });
  const other = new DatabaseSync(DATABASE_FILE);
  onTestFinished(() => {
    other.close();
    rmSync(directory, { recursive: true });
  });
  other.exec('BEGIN IMMEDIATE');

  const startedMs = performance.now();
  await expect(openStore(config)).rejects.toMatchObject({ status: 503 });

  const tookMs = performance.now() - startedMs;
  expect(tookMs).toBeGreaterThan(1_400); // the default of the store is 1 s
  expect(tookMs).toBeLessThan(4_500); // the default of openDatabase is 5 s
});
