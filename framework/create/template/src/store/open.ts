import { postgresOptions, type ServiceRuntime } from '@fw/service';

import type { Config } from '../config.ts';
import type { TaskStore } from '../store.ts';

/** Opens PostgreSQL if `DATABASE_URL` is set, otherwise the SQLite file. Loads the code of that store only. */
export async function openStore(config: Config, runtime: ServiceRuntime = {}): Promise<TaskStore> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteTaskStore } = await import('./sqlite.ts');
    return openSqliteTaskStore(file, { timeoutMs });
  }
  const { openPostgresTaskStore } = await import('./postgres.ts');
  return openPostgresTaskStore({
    ...postgresOptions(config, runtime),
    url: () => config.DATABASE_URL ?? url,
  });
}
