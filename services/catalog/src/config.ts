import { fileURLToPath } from 'node:url';

import {
  authVariables,
  type ConfigOf,
  serviceVariables,
  storeVariables,
  versionVariables,
} from '@fw/service';
import * as z from 'zod';

/** The day (UTC) on which version 1 became deprecated. */
export const V1_DEPRECATED_SINCE = '2026-12-01';

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8082 }),
  ...versionVariables(V1_DEPRECATED_SINCE),
  ...storeVariables({ file: '.local/catalog.db' }),
  ...authVariables({ audience: 'catalog' }),
  DATA_FILE: z
    .string()
    .default(fileURLToPath(new URL('../data/items.ndjson', import.meta.url)))
    .meta({ description: 'items to import into an empty store', default: 'data/items.ndjson' }),
};

export type CatalogConfig = ConfigOf<typeof VARIABLES>;
