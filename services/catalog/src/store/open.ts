import { postgresOptions, type ServiceRuntime } from '@fw/service';

import type { CatalogConfig } from '../config.ts';
import type { CatalogStore, ReplaceCatalog } from '../store.ts';

/** Opens PostgreSQL if `DATABASE_URL` is set, otherwise the SQLite file. Loads the code of that store only. */
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
  return openPostgresCatalogStore({
    ...postgresOptions(config, runtime),
    url: () => config.DATABASE_URL ?? url,
  });
}

/** Returns the function that imports into the same store. */
export async function openImport(config: CatalogConfig): Promise<ReplaceCatalog> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { createSqliteImport } = await import('./sqlite-import.ts');
    return createSqliteImport(file, { timeoutMs });
  }
  const { createPostgresImport } = await import('./postgres-import.ts');
  return createPostgresImport({
    ...postgresOptions(config),
    url: () => config.DATABASE_URL ?? url,
  });
}
