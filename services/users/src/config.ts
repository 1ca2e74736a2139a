import {
  authVariables,
  type ConfigOf,
  integer,
  serviceVariables,
  storeVariables,
  versionVariables,
} from '@fw/service';

/** Default of the largest request body, in bytes. */
export const BODY_LIMIT = 1024 ** 2;

/** The day (UTC) on which version 1 became deprecated. */
export const V1_DEPRECATED_SINCE = '2026-12-01';

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8081 }),
  ...versionVariables(V1_DEPRECATED_SINCE),
  ...storeVariables({ file: '.local/users.db' }),
  ...authVariables({ audience: 'users' }),
  BODY_LIMIT: integer(1, 64 * 1024 ** 2)
    .default(BODY_LIMIT)
    .meta({ description: 'largest request body', unit: 'bytes' }),
};

export type UsersConfig = ConfigOf<typeof VARIABLES>;
