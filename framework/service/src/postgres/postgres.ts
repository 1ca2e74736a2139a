import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'fw';

import type { PoolUse } from '../metrics/metrics.ts';
import { createConnections, queryOf, toTimeLimit } from './connections.ts';
import { isConflict, isTableMissing, toUnavailable } from './errors.ts';
import { isMigrated, type MigrationOptions, migrate } from './migrations.ts';
import type { PoolOptions } from './pool.ts';
import type { Query, Row, Statement } from './query.ts';

export type { PoolUse } from '../metrics/metrics.ts';
export {
  type PendingResponse,
  postgresIdempotency,
  postgresIdempotencyInsert,
  postgresIdempotencyTable,
  postgresIdempotencyValues,
} from '../stores/idempotency.ts';
export { createBatch } from './batch.ts';
export { isTaken } from './errors.ts';
export type { Query, Row, Statement } from './query.ts';

export interface QueryOptions {
  /** Ends the statement on the server when it aborts, usually `ctx.signal`. */
  readonly signal?: AbortSignal;
}

export interface PostgresOptions
  extends MigrationOptions,
    Omit<PoolOptions, 'name' | 'keptConnections'> {
  readonly logger?: Logger | undefined;
  /** Receives the statistics of the pool: `runtime.metrics`. */
  readonly metrics?: PoolMetrics | undefined;
}

/** Receives the number of connections of a pool, of idle connections and of waiting calls. */
export interface PoolMetrics {
  /** Reads the use of the pool `name` with `read` whenever the metrics are read. */
  watchPool(name: string, read: () => PoolUse): void;
}

export interface TransactionOptions {
  /** Time limit of each statement; `Infinity` for none. Default: `statementTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** A PostgreSQL database whose server may become unavailable and recover. */
export interface Postgres {
  /** Runs a statement; resolves with its rows, or rejects with the reason of `signal` if that aborts before. */
  query(
    statement: Statement,
    values?: readonly unknown[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>;
  /** Runs `work` in one transaction, which is rolled back if `work` throws. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Migrates the tables to the newest version, without a time limit, and resolves with the versions that it
   * applied. Without this call, the first use migrates.
   */
  migrate(): Promise<readonly number[]>;
  /** Rejects if the database cannot be used. Opens the connections that the first requests need. */
  check(): Promise<void>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Maximum number of runs of work that conflicts with other transactions. */
const CONFLICT_ATTEMPTS = 4;

/**
 * Number of connections that a check opens, and that stay open: the first requests after a start do not
 * wait for new ones.
 */
const KEPT_CONNECTIONS = 4;

/** The longest pause before the second run; later pauses are longer. */
const CONFLICT_PAUSE_MS = 50;

/**
 * Opens a PostgreSQL database. It connects and migrates the tables on first use: a service starts
 * without its database. While the server is unavailable, calls reject with a
 * `ServiceUnavailableError` immediately; one call every half second tries to connect.
 *
 * @throws {AddressFileError} naming the certificate file of `url` that cannot be read
 */
export function openPostgres(options: PostgresOptions): Postgres {
  const {
    name,
    migrations,
    poolSize = 10,
    statementTimeoutMs = 5_000,
    waitTimeoutMs = 15_000,
  } = options;
  const keptConnections = Math.min(poolSize, KEPT_CONNECTIONS);
  const connections = createConnections({
    ...options,
    settings: {
      statement_timeout: toTimeLimit(statementTimeoutMs),
      idle_in_transaction_session_timeout: '10000',
      ...options.settings,
    },
    poolSize,
    keptConnections,
    statementTimeoutMs,
    waitTimeoutMs,
    onLost: () => {
      isReady = false;
    },
    tryOut: (send) => isMigrated(send, { name, migrations }),
  });
  let isReady = false;
  let migrating: Promise<readonly number[]> | undefined;
  options.metrics?.watchPool(name, connections.use);

  async function prepare(): Promise<readonly number[]> {
    const tables = { name, migrations };
    let applied: readonly number[] = [];
    if (!(await connections.run((send) => isMigrated(send, tables)))) {
      migrating ??= connections
        .transaction((send) => migrate(send, tables), Number.POSITIVE_INFINITY)
        .finally(() => {
          migrating = undefined;
        });
      applied = await migrating;
    }
    isReady = true;
    return applied;
  }

  async function use<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    connections.requireAvailable();
    try {
      if (!isReady) await prepare();
      return await call();
    } catch (error) {
      // A pooler keeps connections open while the server restarts, perhaps as an older copy.
      if (isTableMissing(error)) isReady = false;
      throw signal?.aborted ? signal.reason : toUnavailable(error);
    }
  }

  async function ping(): Promise<void> {
    await use(() => connections.run((send) => send({ text: 'SELECT 1' })));
  }

  /** Repeats work that was rolled back because it conflicted with another transaction. */
  async function repeat<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await use(call, signal);
      } catch (error) {
        const isLast = attempt === CONFLICT_ATTEMPTS;
        if (isLast || !(error instanceof Error) || !isConflict(error.cause)) throw error;
        // Both transactions would conflict again if they were repeated at the same time.
        await sleep(Math.random() * attempt * CONFLICT_PAUSE_MS);
      }
    }
  }

  return {
    query: (statement, values, { signal } = {}) =>
      repeat(() => connections.run((send) => queryOf(send)(statement, values), signal), signal),
    transaction: (work, { timeoutMs = statementTimeoutMs } = {}) =>
      repeat(() => connections.transaction((send) => work(queryOf(send)), timeoutMs)),
    async migrate() {
      if (isReady) return [];
      return prepare().catch((error: unknown) => {
        throw toUnavailable(error);
      });
    },
    async check() {
      // All connections are busy: the check would wait too, and the waiting calls detect an outage themselves.
      if (isReady && connections.use().waiting > 0) return;
      await ping();
      if (connections.use().size >= keptConnections) return;
      // Concurrent calls open one connection each. A server that accepts no more still serves calls.
      await Promise.allSettled(Array.from({ length: keptConnections }, ping));
    },
    close: connections.close,
  };
}
