import { runService } from '@fw/service';

import { createUsersApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';

await runService({
  name: 'users',
  summary: 'creates, reads, lists, changes and deletes users',
  variables: VARIABLES,
  start(config, edge) {
    const store = openSqliteUserStore(config.DATABASE_FILE);
    return {
      app: createUsersApp({ ...edge, store, bodyLimit: config.BODY_LIMIT }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
});
