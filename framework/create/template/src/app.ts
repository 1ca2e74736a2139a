import { createServiceApp, documents, type ServiceRuntime } from '@fw/service';
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
  app.route('/api/v1/tasks', v1);
  app.use(v1.allowedMethods());
  app.use(
    documents({
      name: 'my-service',
      title: 'Tasks',
      version: packageJson.version,
      description: DESCRIPTION,
      routers: [v1],
    }),
  );
  app.use(notFoundHandler());
  return app;
}
