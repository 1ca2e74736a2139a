import { createUsersApp } from '@fw/users/src/app.ts';
import type { UserStore } from '@fw/users/src/store.ts';

import type { Settings } from '../contestant.ts';
import { USERS } from '../endpoints/users.ts';
import { userRoutes } from '../peers/users.ts';
import type { Subject } from './serve.ts';
import { openUserStore } from './user-store.ts';

async function openFilled({ store: place }: Settings): Promise<UserStore> {
  const store = openUserStore(place);
  await Promise.all(USERS.map((user) => store.insertUnique(user)));
  return store;
}

/** The users service on both frameworks. */
export const subject: Subject<UserStore> = {
  openStore: openFilled,
  createApp: (store, edge) => createUsersApp({ ...edge, store }),
  peer: userRoutes,
};
