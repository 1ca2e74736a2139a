import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { openDatabase } from '@fw/service/sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { type CatalogConfig, VARIABLES } from '../config.ts';
import { ImportRunningError } from '../import/target.ts';
import { newDirectory } from '../testing.ts';
import { openImport, openStore } from './open.ts';
import { createSqliteCatalogStore } from './sqlite.ts';
import { FORMAT } from './sqlite-tables.ts';

test('an import fails at once while another process writes to the SQLite file', async () => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');
  const config = readConfig(VARIABLES, { DATABASE_FILE });
  const store = await openStore(config);
  const other = new DatabaseSync(DATABASE_FILE);
  onTestFinished(() => {
    other.close();
    return store.close();
  });
  other.exec('BEGIN IMMEDIATE');
  const replace = await openImport(config);

  await expect(replace({ fill: async () => 'new' })).rejects.toThrow(ImportRunningError);
});

const importNothing = async (config: CatalogConfig) =>
  (await openImport(config))({ fill: async () => undefined });

test.each([
  ['store', openStore],
  ['import', importNothing],
] as const)('the %s waits DATABASE_TIMEOUT_MS to create a locked SQLite file', async (_, open) => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');
  const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '50' });
  const other = new DatabaseSync(DATABASE_FILE);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');

  const startedMs = performance.now();
  await expect(open(config)).rejects.toMatchObject({ status: 503 });

  // Without the variable, opening waits 5 s.
  expect(performance.now() - startedMs).toBeLessThan(4_000);
});

test('timeoutMs is how long the SQLite store waits for a lock', async () => {
  const database = openDatabase(':memory:', FORMAT);
  const store = createSqliteCatalogStore(database, { timeoutMs: 70 });
  onTestFinished(() => store.close());

  expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 70 });
});
