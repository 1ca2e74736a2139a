import { runService } from '@fw/service';

import { createUsersApp } from '../../../services/users/src/app.ts';
import { VARIABLES } from '../../../services/users/src/config.ts';
import { openStore } from '../../../services/users/src/store/open.ts';

/** The service users with a bug: only the route compares the version, before the change. */
await runService({
  name: 'users',
  summary: 'loses updates',
  variables: VARIABLES,
  async start(config, runtime) {
    const store = await openStore(config, runtime);
    const update: typeof store.update = (id, changes, options) =>
      store.update(id, changes, { ...options, ifVersion: undefined });
    return {
      app: createUsersApp({
        ...runtime,
        store: { ...store, update },
        bodyLimit: config.BODY_LIMIT,
      }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
});
