import { startTestPostgres } from '@fw/service/testing/vitest';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { startPgbouncer } from '../../../../deploy/local/testing/pgbouncer.ts';

import { describeCatalogStore } from '../store.test-suite.ts';
import { openPostgresCatalogStore } from './postgres.ts';
import { createPostgresImport } from './postgres-import.ts';

const server = startTestPostgres();

function databaseAt(url: string) {
  // Other tests may use the CPU; other tests check time-outs.
  const statementTimeoutMs = 20_000;
  return {
    openStore: () => openPostgresCatalogStore({ url, statementTimeoutMs }),
    replace: createPostgresImport({ url, statementTimeoutMs }),
  };
}

describeCatalogStore('the PostgreSQL store', async () =>
  databaseAt(await server().createDatabase()),
);

describeCatalogStore('the PostgreSQL store through PgBouncer in transaction mode', async () => {
  const url = await server().createDatabase();
  const pooler = await startPgbouncer(url, 'transaction');
  onTestFinished(() => pooler.stop());
  return databaseAt(pooler.through(url));
});

test('migrate removes the interrupted import of an earlier version', async () => {
  const url = await server().createDatabase();
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('CREATE TABLE catalog_import (number integer)');
  await client.query('CREATE TABLE catalog_refused (line bigint)');
  const store = openPostgresCatalogStore({ url });
  onTestFinished(() => store.close());

  await store.migrate();

  const { rows } = await client.query(
    "SELECT relname FROM pg_class WHERE relname IN ('catalog_import', 'catalog_refused')",
  );
  expect(rows).toEqual([]);
});
