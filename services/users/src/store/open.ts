import { postgresOptions, type ServiceEdge } from '@fw/service';

import type { UsersConfig } from '../config.ts';
import type { UserStore } from '../store.ts';

/**
 * Opens the store that the configuration names: PostgreSQL if there is an address, else SQLite. Only
 * the one that is used is loaded.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process has locked it for too long
 * @throws {Error} naming the file, if it cannot be opened or holds something else
 */
export async function openStore(config: UsersConfig, edge: ServiceEdge = {}): Promise<UserStore> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteUserStore } = await import('./sqlite.ts');
    return openSqliteUserStore(file, { timeoutMs });
  }
  const { openPostgresUserStore } = await import('./postgres.ts');
  return openPostgresUserStore({ ...postgresOptions(config, edge), url });
}
