import { json } from '@fw/body-parser';
import { controllersPlugin } from '@fw/controllers';
import { deprecation } from '@fw/middleware/deprecation';
import { createServiceApp, documents, type ServiceEdge, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, createRouter, notFoundHandler } from 'fw';

import { onlyMergePatches, PATCH_TYPES } from './merge-patch.ts';
import type { UserStore } from './store.ts';
import type { Origins } from './user.ts';
import { Users } from './users.ts';
import { userRoutes } from './v1.ts';
import { UserController, V2 } from './v2.ts';

export interface UsersAppOptions extends ServiceEdge, Partial<Origins> {
  readonly store: UserStore;
  /** Largest body accepted, in bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
}

const V1 = '/api/v1/users';

const DESCRIPTION = `Creates, reads, lists, changes and deletes users.

A user's \`ETag\` in \`If-Match\` keeps two clients from overwriting each other's changes; an
\`Idempotency-Key\` makes a creation safe to send again. Version 1 is deprecated, and stays as it is.`;

/** Creates the users API over a store. */
export function createUsersApp({
  store,
  bodyLimit = 1024 ** 2,
  newId = () => crypto.randomUUID(),
  now = () => new Date(),
  ...edge
}: UsersAppOptions): Application {
  const origins = { newId, now };
  const v1 = userRoutes(store, origins).use(json({ limit: bodyLimit }));
  const v2 = createRouter().use(onlyMergePatches, json({ limit: bodyLimit }));

  const app = createServiceApp(edge);
  app.plugin(
    controllersPlugin({
      router: v2,
      controllers: [UserController],
      provide: [[Users, new Users(store, origins)]],
    }),
  );
  app.use(V1, deprecation({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.route(V2, v2);
  app.route(V1, v1);
  app.use(v2.allowedMethods({ patchTypes: PATCH_TYPES }));
  app.use(v1.allowedMethods());
  app.use(
    documents({
      name: 'users',
      title: 'Users',
      description: DESCRIPTION,
      routers: [v2, v1],
    }),
  );
  app.use(notFoundHandler());
  return app;
}
