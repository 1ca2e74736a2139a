import type { UserStore } from '../../../services/users/src/store.ts';
import type { User } from '../../../services/users/src/user.ts';

/** Bugs of the store that the checker must find. */
export const STORE_BUGS = ['lost update', 'stale read', 'reused key'] as const;
export type StoreBug = (typeof STORE_BUGS)[number];

/** Returns `store` with a bug. */
export function plantBug(store: UserStore, bug: StoreBug): UserStore {
  switch (bug) {
    case 'lost update':
      // Only the route compares the version, before the change.
      return {
        ...store,
        update: (id, changes, options) =>
          store.update(id, changes, { ...options, ifVersion: undefined }),
      };
    case 'stale read':
      return { ...store, find: cached(store.find) };
    case 'reused key':
      // A repeated request is executed again.
      return {
        ...store,
        insert: (user, options) =>
          store.insert(user, options && { ...options, idempotency: undefined }),
      };
  }
}

/** One of ten reads uses a cache that changes do not clear. */
function cached(find: UserStore['find']): UserStore['find'] {
  const cache = new Map<string, User>();
  return async (id) => {
    const old = cache.get(id);
    if (old && Math.random() < 0.1) return old;
    const user = await find(id);
    if (user) cache.set(id, user);
    return user;
  };
}
