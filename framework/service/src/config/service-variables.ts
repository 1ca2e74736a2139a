import * as z from 'zod';

import type { ServiceRuntime } from '../app/service-app.ts';
import { LOG_LEVELS } from '../logging/logging.ts';
import { arePaths } from '../logging/redact.ts';
import { tracingVariables } from '../tracing/tracing-variables.ts';
import type { ConfigOf } from './read-config.ts';
import { address, integer, oneOf, url } from './variables.ts';

/** The variables of every service: addresses, limits, logs, drain, traces. */
export function serviceVariables({ port }: { readonly port: number }) {
  return {
    HOST: address()
      .default('127.0.0.1')
      .meta({ description: 'address to listen on; 0.0.0.0 in a container' }),
    PORT: integer(0, 65_535)
      .default(port)
      .meta({ description: 'port of the API; 0: any free one' }),
    HEALTH_PORT: integer(0, 65_535)
      .default(9090)
      .meta({ description: 'port of health and metrics; 0: any free one' }),
    TRUST_PROXY: integer(0, 100)
      .default(0)
      .meta({ description: 'number of trusted proxies in front of the service' }),
    NODE_ENV: oneOf(['production', 'development', 'test'])
      .default('production')
      .meta({ description: 'development adds stack traces to error responses' }),
    SERVICE_VERSION: z
      .string()
      .max(128, 'must have at most 128 characters')
      .default('dev')
      .meta({ description: 'release that the metrics report, such as the tag of the image' }),
    LOG_LEVEL: oneOf(LOG_LEVELS)
      .default('info')
      .meta({ description: 'lowest level that is logged' }),
    LOG_FORMAT: oneOf(['auto', 'json', 'pretty'])
      .default('auto')
      .meta({ description: 'json, or pretty for people; auto: pretty in a terminal' }),
    LOG_REDACT: z
      .string()
      .refine(arePaths, 'must be paths such as password, user.email, items[*].token')
      .default('')
      .meta({ description: 'paths of the values that the log has as [Redacted]' }),
    REQUEST_TIMEOUT_MS: integer(0, 600_000)
      .default(20_000)
      .meta({ description: 'time limit of a request, then 503; 0: none', unit: 'ms' }),
    HEADERS_TIMEOUT_MS: integer(100, 600_000)
      .default(5_000)
      .meta({ description: 'time limit for receiving the headers, then 408', unit: 'ms' }),
    BODY_TIMEOUT_MS: integer(100, 600_000)
      .default(10_000)
      .meta({ description: 'time limit for receiving the whole request, then 408', unit: 'ms' }),
    // The maximum exceeds the hour for which Envoy keeps idle connections.
    KEEP_ALIVE_TIMEOUT_MS: integer(1_000, 7_200_000).default(75_000).meta({
      description: 'time until an idle connection is closed; must exceed that of a proxy',
      unit: 'ms',
    }),
    MAX_IN_FLIGHT: integer(1, 1_000_000).default(1_000).meta({
      description:
        'concurrent requests, and as many whose body is still arriving; further ones get 503',
    }),
    BODY_MEMORY: integer(0, 1024 ** 4)
      .default(0)
      .meta({
        description:
          'memory for bodies that are not yet parsed; further ones get 503; 0: an eighth of the memory limit',
        unit: 'bytes',
      }),
    DRAIN_DELAY_MS: integer(0, 60_000)
      .default(1_000)
      .meta({ description: 'how long requests are still accepted after SIGTERM', unit: 'ms' }),
    DRAIN_IDLE_MS: integer(0, 30_000).default(5_000).meta({
      description:
        'how long idle connections are served after that; must exceed the idle time of a proxy',
      unit: 'ms',
    }),
    // The maximum has room for the longest delay, the longest request and idle connections.
    DRAIN_TIMEOUT_MS: integer(100, 700_000)
      .default(30_000)
      .meta({ description: 'time from SIGTERM until open connections are closed', unit: 'ms' }),
    ...tracingVariables(),
  };
}

/** The values of `serviceVariables`. */
export type ServiceConfig = ConfigOf<ReturnType<typeof serviceVariables>>;

/** The part of `DRAIN_TIMEOUT_MS` that is reserved for closing the stores; at most a tenth of it. */
export const CLOSE_STORES_MS = 1_000;

/** A rule: without time after the drain delay, every request in flight would be aborted. */
export function requireDrainTime(config: ServiceConfig): string[] {
  const { DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS } = config;
  return DRAIN_TIMEOUT_MS > DRAIN_DELAY_MS
    ? []
    : [`DRAIN_TIMEOUT_MS must be more than DRAIN_DELAY_MS, got ${DRAIN_TIMEOUT_MS}`];
}

/** The variables of a service with a store: the SQLite `file`, or a PostgreSQL server. */
export function storeVariables({ file }: { readonly file: string }) {
  return {
    DATABASE_FILE: z
      .string()
      .default(file)
      .meta({ description: 'SQLite file, created if missing; processes may share it' }),
    DATABASE_URL: url('postgres', 'postgresql')
      .optional()
      .meta({ description: 'PostgreSQL server to use instead of the file', secret: true }),
    DATABASE_POOL_SIZE: integer(1, 1_000)
      .default(10)
      .meta({ description: 'maximum number of PostgreSQL connections' }),
    DATABASE_TIMEOUT_MS: integer(50, 60_000).default(1_000).meta({
      description: 'wait for a locked SQLite file, then 503',
      unit: 'ms',
    }),
    DATABASE_STATEMENT_TIMEOUT_MS: integer(50, 600_000).default(5_000).meta({
      description: 'time limit of one PostgreSQL call once it has a connection, then 503',
      unit: 'ms',
    }),
  };
}

/** The values of `storeVariables`. */
export type StoreConfig = ConfigOf<ReturnType<typeof storeVariables>>;

/**
 * The options of `openPostgres` from the configuration, without the optional address. A call waits for a
 * connection as long as its request can still be served in time: a call whose request has timed out must
 * not be sent, because under overload the server would do nothing else.
 */
export function postgresOptions(
  config: StoreConfig & Pick<ServiceConfig, 'REQUEST_TIMEOUT_MS'>,
  { logger, metrics }: ServiceRuntime = {},
) {
  const requestMs = config.REQUEST_TIMEOUT_MS || Number.POSITIVE_INFINITY;
  const statementTimeoutMs = config.DATABASE_STATEMENT_TIMEOUT_MS;
  return {
    waitTimeoutMs: Math.max(requestMs - statementTimeoutMs, requestMs / 2),
    poolSize: config.DATABASE_POOL_SIZE,
    statementTimeoutMs,
    logger,
    metrics,
  };
}
