import { runService } from '@fw/service';

import { createUsersApp } from './app.ts';
import { type UsersConfig, VARIABLES } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import type { UserStore } from './store.ts';

await runService({
  name: 'users',
  summary: 'creates, finds, changes and deletes users',
  variables: VARIABLES,
  async start(config, edge) {
    const store = await openStore(config);
    return {
      app: createUsersApp({ ...edge, store, bodyLimit: config.BODY_LIMIT }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
  async migrate(config) {
    const store = await openStore(config);
    await store.migrate();
    await store.close();
  },
});

async function openStore(config: UsersConfig): Promise<UserStore> {
  return openSqliteUserStore(config.DATABASE_FILE, { timeoutMs: config.DATABASE_TIMEOUT_MS });
}
