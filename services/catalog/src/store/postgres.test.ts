import { startTestPostgres } from '@fw/service/testing/vitest';

import { describeCatalogStore } from './contract.ts';
import { openPostgresCatalogStore } from './postgres.ts';
import { createPostgresImport } from './postgres-import.ts';

const server = startTestPostgres();

describeCatalogStore('the PostgreSQL store', async () => {
  const url = await server().createDatabase();
  // Other tests may use the CPU; other tests check time-outs.
  const statementTimeoutMs = 20_000;
  return {
    openStore: () => openPostgresCatalogStore({ url, statementTimeoutMs }),
    replace: createPostgresImport({ url, statementTimeoutMs }),
  };
});
