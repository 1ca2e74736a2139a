import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '@fw/service';
import { openDatabase } from '@fw/service/sqlite';
import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { type CatalogConfig, VARIABLES } from '../config.ts';
import { ImportRunningError } from '../store.ts';
import { openImport, openStore } from './open.ts';
import { createSqliteCatalogStore } from './sqlite.ts';
import { FORMAT } from './sqlite-migrations.ts';

test('an import fails immediately while another process writes to the SQLite file', async () => {
  const DATABASE_FILE = join(newFolder(), 'catalog.db');
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
] as const)(
  'the %s waits DATABASE_TIMEOUT_MS for another process that locks the SQLite file',
  async (_, open) => {
    const DATABASE_FILE = join(newFolder(), 'catalog.db');
    const config = readConfig(VARIABLES, { DATABASE_FILE, DATABASE_TIMEOUT_MS: '1500' });
    const other = new DatabaseSync(DATABASE_FILE);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');

    const startedMs = performance.now();
    await expect(open(config)).rejects.toMatchObject({ status: 503 });

    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(1_400); // the default of the variable is 1 s
    expect(tookMs).toBeLessThan(4_500); // the default of openDatabase is 5 s
  },
);

test('the SQLite store waits timeoutMs for a lock', async () => {
  const database = openDatabase(':memory:', FORMAT);
  const store = createSqliteCatalogStore(database, { timeoutMs: 70 });
  onTestFinished(() => store.close());

  expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 70 });
});
