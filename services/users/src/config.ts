import { type ConfigOf, integer, serviceVariables, storeVariables } from '@fw/service';

import { VERSION_VARIABLES } from '../../versions.ts';

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8081 }),
  ...VERSION_VARIABLES,
  ...storeVariables({ file: '.local/users.db' }),
  BODY_LIMIT: integer(1, 64 * 1024 ** 2)
    .default(1024 ** 2)
    .meta({ description: 'largest request body', unit: 'bytes' }),
};

export type UsersConfig = ConfigOf<typeof VARIABLES>;
