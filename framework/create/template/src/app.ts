import { createServiceApp, documents, mountVersions, type ServiceRuntime } from '@fw/service';
import { type Application, notFoundHandler } from 'fw';

import packageJson from '../package.json' with { type: 'json' };
import type { TaskStore } from './store.ts';
import type { Origins } from './task.ts';
import { createTaskRoutes } from './v1.ts';

export interface TasksAppOptions extends ServiceRuntime, Partial<Origins> {
  readonly store: TaskStore;
}

const DESCRIPTION = 'Creates, lists, completes and deletes tasks.';

/** Creates the application; it opens no files and no ports. */
export function createTasksApp({
  store,
  newId = () => crypto.randomUUID(),
  now = () => new Date(),
  ...runtime
}: TasksAppOptions): Application {
  const v1 = createTaskRoutes(store, { newId, now });

  const app = createServiceApp(runtime);
  const routers = mountVersions(app, [{ name: 'v1', path: '/api/v1/tasks', router: v1 }], {
    metrics: runtime.metrics,
    proxyErrors: [502, 503, 504],
  });
  app.use(
    documents({
      name: 'my-service',
      title: 'Tasks',
      version: packageJson.version,
      description: DESCRIPTION,
      routers,
    }),
  );
  app.use(notFoundHandler());
  return app;
}
