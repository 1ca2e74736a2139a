import { json } from '@fw/body-parser';
import { controllersPlugin } from '@fw/controllers';
import { deprecation } from '@fw/middleware/deprecation';
import { createServiceApp, documents, type ServiceRuntime, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, createRouter, notFoundHandler } from 'fw';

import { onlyMergePatches, PATCH_TYPES } from './merge-patch.ts';
import { V1, V2 } from './paths.ts';
import type { UserStore } from './store.ts';
import type { Origins } from './user.ts';
import { Users } from './users.ts';
import { createUserRoutesV1 } from './v1.ts';
import { UserController } from './v2.ts';

export interface UsersAppOptions extends ServiceRuntime, Partial<Origins> {
  readonly store: UserStore;
  /** Maximum size of a request body, in bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
}

const DESCRIPTION = `Creates, reads, lists, changes and deletes users.

\`If-Match\` with the \`ETag\` of a user prevents lost updates; with an \`Idempotency-Key\` a client may
repeat a creation. Version 1 is deprecated and does not change.`;

/** Creates the users API. */
export function createUsersApp({
  store,
  bodyLimit = 1024 ** 2,
  newId = () => crypto.randomUUID(),
  now = () => new Date(),
  ...runtime
}: UsersAppOptions): Application {
  const users = new Users(store, { newId, now });
  const v1 = createUserRoutesV1(users, { bodyLimit });
  const v2 = createRouter().use(onlyMergePatches, json({ limit: bodyLimit }));

  const app = createServiceApp(runtime);
  app.plugin(
    controllersPlugin({
      router: v2,
      controllers: [UserController],
      provide: [[Users, users]],
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
