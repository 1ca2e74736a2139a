import { startTestPostgres } from '@fw/service/testing/vitest';
import { onTestFinished } from 'vitest';

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
