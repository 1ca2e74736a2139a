import type { ConfigOf } from './config.ts';
import { address, integer, oneOf, secret, text, url } from './variable.ts';

/** What every service reads: where it listens, how it drains, how much it takes on, what it tells. */
export function serviceVariables({ port }: { readonly port: number }) {
  return {
    HOST: address({
      fallback: '127.0.0.1',
      meaning: 'address to listen on, or localhost; 0.0.0.0 in a container',
    }),
    PORT: integer({ from: 0, to: 65_535, fallback: port, meaning: 'port of the API; 0: any' }),
    HEALTH_PORT: integer({
      from: 0,
      to: 65_535,
      fallback: 9090,
      meaning: 'port of /livez, /readyz, /startupz and /metrics; 0: any',
    }),
    TRUST_PROXY: integer({
      from: 0,
      to: 100,
      fallback: 0,
      meaning: 'how many proxies in front are ours and may name the client',
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
      meaning: 'json: one object a line; pretty: for eyes; auto: pretty in a terminal',
    }),
    REQUEST_TIMEOUT_MS: integer({
      from: 0,
      to: 600_000,
      fallback: 10_000,
      unit: 'ms',
      meaning: 'how long one request may take before it is answered 503; 0: for ever',
    }),
    HEADERS_TIMEOUT_MS: integer({
      from: 100,
      to: 600_000,
      fallback: 10_000,
      unit: 'ms',
      meaning: 'how long a client may take to send its headers before it is answered 408',
    }),
    BODY_TIMEOUT_MS: integer({
      from: 100,
      to: 600_000,
      fallback: 20_000,
      unit: 'ms',
      meaning: 'how long a client may take to send a whole request before it is answered 408',
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
      fallback: 500,
      unit: 'ms',
      meaning: 'how late the event loop may be; while it is later, requests are answered 503',
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
      to: 600_000,
      fallback: 25_000,
      unit: 'ms',
      meaning: 'after so long since SIGTERM whatever is left is cut',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: url({
      protocols: ['http:', 'https:'],
      meaning: 'OpenTelemetry collector that traces are sent to; not set: no tracing',
    }),
  };
}

/** The values of `serviceVariables`. */
export type ServiceConfig = ConfigOf<ReturnType<typeof serviceVariables>>;

/** What a service with a store reads: SQLite's `file`, or PostgreSQL instead. */
export function storeVariables({ file }: { readonly file: string }) {
  return {
    DATABASE_FILE: text({
      fallback: file,
      meaning: 'SQLite file, made if it is not there; processes may share it',
    }),
    DATABASE_URL: secret({
      protocols: ['postgres:', 'postgresql:'],
      meaning: 'PostgreSQL database to use instead of the file',
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
      meaning: 'how long the store may take before it counts as away',
    }),
  };
}

/** The values of `storeVariables`. */
export type StoreConfig = ConfigOf<ReturnType<typeof storeVariables>>;
