import {
  type ConfigOf,
  integer,
  serviceVariables,
  tokenVariables,
  url,
  versionVariables,
} from '@fw/service';

import { LIMITS } from './limits.ts';

/** The day (UTC) on which version 1 became deprecated. */
export const V1_DEPRECATED_SINCE = '2026-12-01';

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8083 }),
  ...versionVariables(V1_DEPRECATED_SINCE),
  ...tokenVariables({ audience: 'reports' }),
  RATE_LIMIT_FREE: integer(1, 1_000_000)
    .default(LIMITS.free)
    .meta({ description: 'limit of v2 for a user of the free tier', unit: 'requests/min' }),
  RATE_LIMIT_PRO: integer(1, 1_000_000)
    .default(LIMITS.pro)
    .meta({ description: 'limit of v2 for a user of the pro tier', unit: 'requests/min' }),
  REDIS_URL: url('redis', 'rediss').optional().meta({
    description: 'Redis or Valkey that counts requests; none: counted in memory',
    secret: true,
  }),
  USERS_URL: url('http', 'https')
    .default('http://127.0.0.1:8081')
    .meta({ description: 'address of the users service' }),
  CATALOG_URL: url('http', 'https')
    .default('http://127.0.0.1:8082')
    .meta({ description: 'address of the catalog service' }),
  FIGURES_TIMEOUT_MS: integer(50, 60_000).default(1_000).meta({
    description: 'time limit of one call to another service; there are two tries',
    unit: 'ms',
  }),
};

export type ReportsConfig = ConfigOf<typeof VARIABLES>;
