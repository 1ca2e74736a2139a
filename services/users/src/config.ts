import { type ConfigOf, integer, serviceVariables, storeVariables } from '@fw/service';

/** What the service reads from its environment, with the defaults. */
export const VARIABLES = {
  ...serviceVariables({ port: 8081 }),
  ...storeVariables({ file: '.local/users.db' }),
  BODY_LIMIT: integer({
    from: 1,
    to: 64 * 1024 ** 2,
    fallback: 1024 ** 2,
    unit: 'bytes',
    meaning: 'largest body accepted',
  }),
};

export type UsersConfig = ConfigOf<typeof VARIABLES>;
