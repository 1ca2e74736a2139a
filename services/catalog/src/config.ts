import { fileURLToPath } from 'node:url';

import { type ConfigOf, serviceVariables, storeVariables, text } from '@fw/service';

/** What the service reads from its environment, with the defaults. */
export const VARIABLES = {
  ...serviceVariables({ port: 8082 }),
  ...storeVariables({ file: '.local/catalog.db' }),
  DATA_FILE: text({
    fallback: fileURLToPath(new URL('../data/items.ndjson', import.meta.url)),
    shownAs: 'data/items.ndjson',
    meaning: 'items that an empty store is filled with, as import reads them',
  }),
};

export type CatalogConfig = ConfigOf<typeof VARIABLES>;
