import { runService } from '@fw/service';

import { createUsersApp } from './app.ts';
import { readUsersConfig, type UsersConfig } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';

await runService<UsersConfig>({
  name: 'users',
  readConfig: readUsersConfig,
  start(config, edge) {
    const store = openSqliteUserStore(config.DATABASE_FILE);
    return {
      app: createUsersApp({ ...edge, store, bodyLimit: config.BODY_LIMIT }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
});
