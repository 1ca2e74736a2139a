import { type PostgresServer, startPostgres } from '@fw/service/testing/postgres';
import { afterAll, beforeAll } from 'vitest';

import { describeCatalogStore } from './contract.ts';
import { openPostgresCatalogStore } from './postgres.ts';
import { openPostgresImport } from './postgres-import.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeCatalogStore('the PostgreSQL store', async () => {
  const url = await server.createDatabase();
  // The machine may be busy with all tests at once; how long a store may take is tested elsewhere.
  const statementTimeoutMs = 20_000;
  return {
    openStore: () => openPostgresCatalogStore({ url, statementTimeoutMs }),
    openImport: () => openPostgresImport({ url, statementTimeoutMs }),
  };
});
