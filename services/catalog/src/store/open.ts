import { postgresOptions, type ServiceRuntime } from '@fw/service';

import type { CatalogConfig } from '../config.ts';
import type { CatalogStore, ReplaceCatalog } from '../store.ts';

/**
 * Opens the configured store: PostgreSQL if `DATABASE_URL` is set, otherwise SQLite. Only the code of that
 * store is loaded.
 *
 * @throws {ServiceUnavailableError} naming the SQLite file, if another process locks it longer than
 *   `DATABASE_TIMEOUT_MS`
 * @throws {Error} naming the SQLite file, if it cannot be opened or belongs to another program
 */
export async function openStore(
  config: CatalogConfig,
  runtime: ServiceRuntime = {},
): Promise<CatalogStore> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteCatalogStore } = await import('./sqlite.ts');
    return openSqliteCatalogStore(file, { timeoutMs });
  }
  const { openPostgresCatalogStore } = await import('./postgres.ts');
  return openPostgresCatalogStore({ ...postgresOptions(config, runtime), url });
}

/** Returns the function that imports into the same store. */
export async function openImport(config: CatalogConfig): Promise<ReplaceCatalog> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { createSqliteImport } = await import('./sqlite-import.ts');
    return createSqliteImport(file, { timeoutMs });
  }
  const { createPostgresImport } = await import('./postgres-import.ts');
  return createPostgresImport({ ...postgresOptions(config), url });
}
