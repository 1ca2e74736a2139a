import { type ConfigOf, integer, serviceVariables, storeVariables } from '@fw/service';

import { VERSION_VARIABLES } from '../../versions.ts';

/** Default of the largest request body, in bytes. */
export const BODY_LIMIT = 1024 ** 2;

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8081 }),
  ...VERSION_VARIABLES,
  ...storeVariables({ file: '.local/users.db' }),
  BODY_LIMIT: integer(1, 64 * 1024 ** 2)
    .default(BODY_LIMIT)
    .meta({ description: 'largest request body', unit: 'bytes' }),
};

export type UsersConfig = ConfigOf<typeof VARIABLES>;
