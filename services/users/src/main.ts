import { runService } from '@fw/service';

import { createUsersApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { openStore } from './store/open.ts';

await runService({
  name: 'users',
  summary: 'creates, reads, changes and deletes users',
  variables: VARIABLES,
  async start(config, edge) {
    const store = await openStore(config, edge);
    return {
      app: createUsersApp({ ...edge, store, bodyLimit: config.BODY_LIMIT }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
  openStore,
});
