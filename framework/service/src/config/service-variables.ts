import type { ServiceEdge } from '../app/service-app.ts';
import type { ConfigOf } from './config.ts';
import { address, integer, oneOf, secret, text, url } from './variable.ts';

/** What every service reads: where it listens, how it drains, how much it takes on, what it tells. */
export function serviceVariables({ port }: { readonly port: number }) {
  return {
    HOST: address({
      fallback: '127.0.0.1',
      meaning: 'address to listen on; 0.0.0.0 in a container',
    }),
    PORT: integer({ from: 0, to: 65_535, fallback: port, meaning: 'port of the API; 0: any' }),
    HEALTH_PORT: integer({
      from: 0,
      to: 65_535,
      fallback: 9090,
      meaning: 'port of health and metrics; 0: any',
    }),
    TRUST_PROXY: integer({
      from: 0,
      to: 100,
      fallback: 0,
      meaning: 'how many proxies in front may name the client',
    }),
    NODE_ENV: oneOf({
      words: ['production', 'development', 'test'],
      fallback: 'production',
      meaning: 'development adds stacks to error answers',
    }),
    LOG_LEVEL: oneOf({
      words: ['debug', 'info', 'warn', 'error'],
      fallback: 'info',
      meaning: 'least important line that is logged',
    }),
    LOG_FORMAT: oneOf({
      words: ['auto', 'json', 'pretty'],
      fallback: 'auto',
      meaning: 'json, or pretty for eyes; auto: pretty in a terminal',
    }),
    REQUEST_TIMEOUT_MS: integer({
      from: 0,
      to: 600_000,
      fallback: 20_000,
      unit: 'ms',
      meaning: 'longest that a request may take, then 503; 0: for ever',
    }),
    HEADERS_TIMEOUT_MS: integer({
      from: 100,
      to: 600_000,
      fallback: 5_000,
      unit: 'ms',
      meaning: 'longest that a client may send headers, then 408',
    }),
    BODY_TIMEOUT_MS: integer({
      from: 100,
      to: 600_000,
      fallback: 10_000,
      unit: 'ms',
      meaning: 'longest that a client may send a request, then 408',
    }),
    MAX_IN_FLIGHT: integer({
      from: 1,
      to: 1_000_000,
      fallback: 1_000,
      meaning: 'requests at work at once; more are answered 503',
    }),
    MAX_EVENT_LOOP_LAG_MS: integer({
      from: 1,
      to: 60_000,
      fallback: 1_000,
      unit: 'ms',
      meaning: 'latest that the event loop may be; later, 503',
    }),
    DRAIN_DELAY_MS: integer({
      from: 0,
      to: 60_000,
      fallback: 1_000,
      unit: 'ms',
      meaning: 'how long requests are still welcome after SIGTERM',
    }),
    DRAIN_TIMEOUT_MS: integer({
      from: 100,
      // The longest delay and request, and idle connections.
      to: 700_000,
      fallback: 30_000,
      unit: 'ms',
      meaning: 'so long after SIGTERM what is left is cut',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: url({
      protocols: ['http:', 'https:'],
      meaning: 'OpenTelemetry collector of traces; none: no tracing',
    }),
  };
}

/** The values of `serviceVariables`. */
export type ServiceConfig = ConfigOf<ReturnType<typeof serviceVariables>>;

/** A drain that has no time left after its delay would cut every request. */
export function complaintsOnDrain(config: ServiceConfig): string[] {
  const { DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS } = config;
  return DRAIN_TIMEOUT_MS > DRAIN_DELAY_MS
    ? []
    : [`DRAIN_TIMEOUT_MS must be more than DRAIN_DELAY_MS, got ${DRAIN_TIMEOUT_MS}`];
}

/** What a service with a store reads: SQLite's `file`, or PostgreSQL instead. */
export function storeVariables({ file }: { readonly file: string }) {
  return {
    DATABASE_FILE: text({
      fallback: file,
      meaning: 'SQLite file, made if missing; may be shared',
    }),
    DATABASE_URL: secret({
      protocols: ['postgres:', 'postgresql:'],
      meaning: 'PostgreSQL instead of the file',
    }),
    DATABASE_POOL_SIZE: integer({
      from: 1,
      to: 1_000,
      fallback: 10,
      meaning: 'connections to PostgreSQL at most',
    }),
    DATABASE_TIMEOUT_MS: integer({
      from: 50,
      to: 60_000,
      fallback: 1_000,
      unit: 'ms',
      meaning:
        'wait for a locked SQLite file, then 503; silence of PostgreSQL before it is checked',
    }),
    DATABASE_STATEMENT_TIMEOUT_MS: integer({
      from: 50,
      to: 600_000,
      fallback: 5_000,
      unit: 'ms',
      meaning: 'longest that one call of PostgreSQL may take with its connection, then 503',
    }),
  };
}

/** The values of `storeVariables`. */
export type StoreConfig = ConfigOf<ReturnType<typeof storeVariables>>;

/** The options of `openPostgres`, as configured, without the address, which is optional. */
export function postgresOptions(
  config: StoreConfig & Pick<ServiceConfig, 'REQUEST_TIMEOUT_MS'>,
  { logger, metrics }: ServiceEdge = {},
) {
  return {
    waitTimeoutMs: waitTimeoutMs(config),
    poolSize: config.DATABASE_POOL_SIZE,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    logger,
    metrics,
  };
}

/**
 * How long a call may wait for a connection so that its request can still be served in time. Calls whose
 * requests are over must not be sent: under overload the server would do nothing else.
 */
function waitTimeoutMs({
  REQUEST_TIMEOUT_MS: requestMs,
  DATABASE_STATEMENT_TIMEOUT_MS: statementMs,
}: Parameters<typeof postgresOptions>[0]): number {
  if (requestMs === 0) return Number.POSITIVE_INFINITY;
  return Math.max(requestMs - statementMs, requestMs / 2);
}
