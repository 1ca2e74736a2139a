import { openPostgresUserStore } from '@fw/users/src/store/postgres.ts';
import { openSqliteUserStore } from '@fw/users/src/store/sqlite.ts';
import type { UserStore } from '@fw/users/src/store.ts';

import { type Place, STORE_TIMEOUT_MS } from '../databases.ts';

/** The store of the users service at a place. */
export function openUserStore(place: Place): UserStore {
  const options = { timeoutMs: STORE_TIMEOUT_MS };
  return 'file' in place
    ? openSqliteUserStore(place.file, options)
    : openPostgresUserStore({ ...place, ...options });
}
