import { postgresOptions, type ServiceRuntime } from '@fw/service';

import type { UsersConfig } from '../config.ts';
import type { UserStore } from '../store.ts';

/**
 * Opens the configured store: PostgreSQL if `DATABASE_URL` is set, otherwise SQLite. Only the code of that
 * store is loaded.
 *
 * @throws {ServiceUnavailableError} naming the SQLite file, if another process locks it longer than
 *   `DATABASE_TIMEOUT_MS`
 * @throws {Error} naming the SQLite file, if it cannot be opened or belongs to another program
 */
export async function openStore(
  config: UsersConfig,
  runtime: ServiceRuntime = {},
): Promise<UserStore> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteUserStore } = await import('./sqlite.ts');
    return openSqliteUserStore(file, { timeoutMs });
  }
  const { openPostgresUserStore } = await import('./postgres.ts');
  return openPostgresUserStore({ ...postgresOptions(config, runtime), url });
}
