import type { ServiceEdge } from '@fw/service';

import type { CatalogConfig } from '../config.ts';
import type { ImportTarget } from '../import/target.ts';
import type { CatalogStore } from '../store.ts';
import { openSqliteCatalogStore } from './sqlite.ts';
import { openSqliteImport } from './sqlite-import.ts';

/** Opens the store that the configuration names: PostgreSQL if it is there, else SQLite. */
export function openStore(config: CatalogConfig, _edge: ServiceEdge = {}): CatalogStore {
  return openSqliteCatalogStore(config.DATABASE_FILE);
}

/**
 * Opens the same store for an import.
 *
 * @throws {ImportRunningError} if another import into it is running
 */
export async function openImport(config: CatalogConfig): Promise<ImportTarget> {
  return openSqliteImport(config.DATABASE_FILE);
}
