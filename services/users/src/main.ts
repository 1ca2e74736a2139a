import { requireTokenKey, runService } from '@fw/service';
import { createTokenGuard } from '@fw/service/tokens';

import { createUsersApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { openStore } from './store/open.ts';

await runService({
  name: 'users',
  summary: 'creates, reads, changes and deletes users',
  variables: VARIABLES,
  rule: requireTokenKey,
  async start(config, runtime) {
    const authenticate = await createTokenGuard(config, runtime);
    const store = await openStore(config, runtime);
    return {
      app: createUsersApp({
        ...runtime,
        authenticate,
        store,
        bodyLimit: config.BODY_LIMIT,
        versionConfig: config,
      }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
  openStore,
});
