import { fileURLToPath } from 'node:url';

import { type ConfigOf, serviceVariables, storeVariables } from '@fw/service';
import * as z from 'zod';

import { VERSION_VARIABLES } from '../../versions.ts';

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8082 }),
  ...VERSION_VARIABLES,
  ...storeVariables({ file: '.local/catalog.db' }),
  DATA_FILE: z
    .string()
    .default(fileURLToPath(new URL('../data/items.ndjson', import.meta.url)))
    .meta({ description: 'items to import into an empty store', default: 'data/items.ndjson' }),
};

export type CatalogConfig = ConfigOf<typeof VARIABLES>;
