import { postgresOptions, type ServiceRuntime } from '@fw/service';

import type { UsersConfig } from '../config.ts';
import type { UserStore } from '../store.ts';

/** Opens PostgreSQL if `DATABASE_URL` is set, otherwise the SQLite file. Loads the code of that store only. */
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
  return openPostgresUserStore({
    ...postgresOptions(config, runtime),
    url: () => config.DATABASE_URL ?? url,
  });
}
