import { postgresOptions, type ServiceEdge } from '@fw/service';

import type { CatalogConfig } from '../config.ts';
import type { ImportTarget } from '../import/target.ts';
import type { CatalogStore } from '../store.ts';

/**
 * Opens the store that the configuration names: PostgreSQL if there is an address, else SQLite. Of the
 * two, and of imports, only what is used is loaded.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process has locked it for too long
 * @throws {Error} naming the file, if it cannot be opened or holds something else
 */
export async function openStore(
  config: CatalogConfig,
  edge: ServiceEdge = {},
): Promise<CatalogStore> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteCatalogStore } = await import('./sqlite.ts');
    return openSqliteCatalogStore(file, { timeoutMs });
  }
  const { openPostgresCatalogStore } = await import('./postgres.ts');
  return openPostgresCatalogStore({ ...postgresOptions(config, edge), url });
}

/**
 * Opens the same store for an import.
 *
 * @throws {ImportRunningError} if another import into it is running
 */
export async function openImport(config: CatalogConfig): Promise<ImportTarget> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteImport } = await import('./sqlite-import.ts');
    return openSqliteImport(file, { timeoutMs });
  }
  return (await import('./postgres-import.ts')).openPostgresImport({
    ...postgresOptions(config),
    url,
  });
}
