import { fileURLToPath } from 'node:url';

import { readConfig, serviceVariables, text } from '@fw/service';

/** What the service reads from its environment, with the defaults. */
const VARIABLES = {
  ...serviceVariables({ port: 8082 }),
  DATABASE_FILE: text('.local/catalog.db'),
  DATA_FILE: text(fileURLToPath(new URL('../data/items.ndjson', import.meta.url))),
};

export type CatalogConfig = ReturnType<typeof readCatalogConfig>;

/** @throws {Error} whose message names each bad variable */
export function readCatalogConfig(env: NodeJS.ProcessEnv) {
  return readConfig(VARIABLES, env);
}
