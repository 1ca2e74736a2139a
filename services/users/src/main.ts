import { runService, type ServiceEdge } from '@fw/service';

import { createUsersApp } from './app.ts';
import { type UsersConfig, VARIABLES } from './config.ts';
import { openPostgresUserStore } from './store/postgres.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import type { UserStore } from './store.ts';

await runService({
  name: 'users',
  summary: 'creates, finds, changes and deletes users',
  variables: VARIABLES,
  start(config, edge) {
    const store = openStore(config, edge);
    return {
      app: createUsersApp({ ...edge, store, bodyLimit: config.BODY_LIMIT }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
  async migrate(config, { logger }) {
    const store = openStore(config, { logger });
    await store.migrate();
    await store.close();
  },
});

function openStore(config: UsersConfig, { logger, metrics }: ServiceEdge): UserStore {
  const { DATABASE_URL: url, DATABASE_FILE, DATABASE_POOL_SIZE: poolSize } = config;
  const timeoutMs = config.DATABASE_TIMEOUT_MS;
  return url === undefined
    ? openSqliteUserStore(DATABASE_FILE, { timeoutMs })
    : openPostgresUserStore({ url, poolSize, timeoutMs, logger, metrics });
}
