import { type ConfigOf, serviceVariables, storeVariables } from '@fw/service';

/** The environment variables of the service; `node src/main.ts config` prints them. */
export const VARIABLES = {
  ...serviceVariables({ port: 3000 }),
  ...storeVariables({ file: 'data/my-service.db' }),
};

export type Config = ConfigOf<typeof VARIABLES>;
