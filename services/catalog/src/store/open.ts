import type { ServiceEdge } from '@fw/service';

import type { CatalogConfig } from '../config.ts';
import type { ImportTarget } from '../import/target.ts';
import type { CatalogStore } from '../store.ts';
import { openPostgresCatalogStore } from './postgres.ts';
import { openPostgresImport } from './postgres-import.ts';
import { openSqliteCatalogStore } from './sqlite.ts';
import { openSqliteImport } from './sqlite-import.ts';

/** Opens the store that the configuration names: PostgreSQL if there is an address, else SQLite. */
export function openStore(config: CatalogConfig, edge: ServiceEdge = {}): CatalogStore {
  const { DATABASE_URL: url, DATABASE_FILE: file } = config;
  if (url === undefined) return openSqliteCatalogStore(file);
  return openPostgresCatalogStore({
    url,
    poolSize: config.DATABASE_POOL_SIZE,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    logger: edge.logger,
    metrics: edge.metrics,
  });
}

/**
 * Opens the same store for an import.
 *
 * @throws {ImportRunningError} if another import into it is running
 */
export async function openImport(config: CatalogConfig): Promise<ImportTarget> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  return url === undefined ? openSqliteImport(file) : openPostgresImport({ url, timeoutMs });
}
