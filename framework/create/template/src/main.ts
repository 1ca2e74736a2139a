import { runService } from '@fw/service';

import { createTasksApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { openStore } from './store/open.ts';

await runService({
  name: 'my-service',
  summary: 'creates, lists, completes and deletes tasks',
  variables: VARIABLES,
  async start(config, runtime) {
    const store = await openStore(config, runtime);
    return {
      app: createTasksApp({ ...runtime, store }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
  openStore,
});
