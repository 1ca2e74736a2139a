import { json } from '@fw/body-parser';
import { createServiceApp, type ServiceEdge, superseded, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, notFoundHandler } from 'fw';

import type { UserStore } from './store.ts';
import type { Origins } from './user.ts';
import { userRoutes } from './v1.ts';

export interface UsersAppOptions extends ServiceEdge, Partial<Origins> {
  readonly store: UserStore;
  /** Largest body accepted, in bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
}

const V1 = '/api/v1/users';
const V2 = '/api/v2/users';

/** Creates the users API over a store. */
export function createUsersApp({
  store,
  bodyLimit = 1024 ** 2,
  newId = () => crypto.randomUUID(),
  now = () => new Date(),
  ...edge
}: UsersAppOptions): Application {
  const v1 = userRoutes(store, { newId, now });

  const app = createServiceApp(edge);
  app.use(V1, superseded({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.use(json({ limit: bodyLimit }));
  app.route(V1, v1);
  app.use(v1.allowedMethods());
  app.use(notFoundHandler());
  return app;
}
