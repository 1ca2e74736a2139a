import type { Logger } from 'fw';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';

import { createBreaker } from '../calls/circuit-breaker.ts';
import { CLOSE_STORES_MS } from '../config/service-variables.ts';
import type { PoolUse } from '../metrics/metrics.ts';
import { beginStatement } from '../tracing/tracing.ts';
import { cancelOnAbort } from './cancellation.ts';
import {
  ConnectionLostError,
  isConnectionLost,
  isFromServer,
  isNoResponse,
  isOutOfConnections,
  isRejected,
  reasonOf,
  toLost,
  unavailable,
} from './errors.ts';
import {
  AddressFileError,
  createPool,
  type DestroyablePool,
  type PoolOptions,
  pg,
  type TimedStatement,
} from './pool.ts';
import type { Query } from './query.ts';

export interface ConnectionsOptions extends Required<PoolOptions> {
  readonly logger?: Logger | undefined;
  /** Called when a connection is lost: the server may return as an older copy of the database. */
  readonly onLost: () => void;
  /** Rejects if the role of a changed address cannot use the tables. */
  readonly tryOut: (send: Send) => Promise<unknown>;
}

/** Sends one statement on one connection. */
export type Send = (statement: QueryConfig) => Promise<QueryResult<Record<string, unknown>>>;

/** The connections to one server. */
export interface Connections {
  /** @throws {ServiceUnavailableError} in an outage; every `RETRY_MS`, one call may try to connect */
  requireAvailable(): void;
  /**
   * Runs `work` on one connection; `signal` ends its statement. If a pooler shares the connection, the work
   * is one transaction: only within it do a connection and its time limits stay the same.
   */
  run<T>(work: (send: Send) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Runs `work` in one transaction; `timeoutMs` is the time limit of each statement, `Infinity` for none. */
  transaction<T>(work: (send: Send) => Promise<T>, timeoutMs: number): Promise<T>;
  /** Statistics of the pool. */
  use(): PoolUse;
  /** Waits for calls in progress, at most `CLOSE_STORES_MS`. */
  close(): Promise<void>;
}

/** A connection, and the pool to which it returns. */
interface PooledClient {
  readonly used: DestroyablePool;
  readonly client: PoolClient;
}

/** Time between two attempts to connect to an unavailable server. */
const RETRY_MS = 500;

/** Time between two attempts to use a changed address. */
const RETRY_ADDRESS_MS = 1_000;

/** How much longer than the server's own time limit a statement waits for its response. */
const GRACE_MS = 200;

/**
 * Creates the connections to a server. An outage begins when a connection cannot be opened or a
 * statement times out, and the server has sent nothing meanwhile. It ends with a new connection. A server that
 * rejects the role or the password is no outage while connections are open: calls wait for those.
 *
 * @throws {AddressFileError} naming the certificate file of the address that cannot be read
 */
export function createConnections(options: ConnectionsOptions): Connections {
  const { name, logger, onLost, tryOut, settings, statementTimeoutMs, waitTimeoutMs } = options;
  const { url } = options;
  const readUrl = typeof url === 'function' ? url : () => url;
  const localSettings = Object.entries(settings).map(
    ([setting, value]) => `SET LOCAL ${setting} = ${pg.escapeLiteral(value)}`,
  );
  const breaker = createBreaker({ failures: 1, openMs: RETRY_MS });
  let current: DestroyablePool | undefined = newPool();
  let outage: Error | undefined;
  let isRejecting = false;
  let replaceFromMs = 0;
  let addressProblem: string | undefined;
  let respondedMs = 0;
  let isClosed = false;

  function newPool(): DestroyablePool {
    const created = createPool(readUrl(), options);
    created.pool
      .on('connect', () => {
        if (created === current) noteConnection();
      })
      .on('error', onLost);
    return created;
  }

  /** After an outage the pool is a new one, which reads the certificate files again. */
  function openPool(): DestroyablePool {
    if (isClosed) throw new RangeError(`Cannot query ${name}: PostgreSQL is closed`);
    try {
      current ??= newPool();
    } catch (error) {
      if (error instanceof AddressFileError) logOutage(error);
      throw error;
    }
    if (current.url !== readUrl()) void replacePool(current);
    return current;
  }

  /** Replaces `used` by a pool of the changed address once one of its connections works. */
  async function replacePool(used: DestroyablePool): Promise<void> {
    if (performance.now() < replaceFromMs) return;
    replaceFromMs = Number.POSITIVE_INFINITY;
    let created: DestroyablePool | undefined;
    try {
      const trial = newPool();
      created = trial;
      const client = await trial.pool.connect();
      const limit = { query_timeout: statementTimeoutMs + GRACE_MS };
      const sendOne: Send = (statement) => send(trial, client, { ...statement, ...limit });
      await tryOut(sendOne).finally(() => client.release());
      if (isClosed) return;
      // Without an open connection, and after an outage, the pool already has the changed address.
      if (used === current) {
        current = created;
        created = used;
        onLost();
        noteConnection();
      }
      addressProblem = undefined;
      logger?.info(`PostgreSQL uses the changed address for ${name}`);
    } catch (error) {
      const problem = reasonOf(toLost(error));
      if (problem === addressProblem || isClosed) return;
      addressProblem = problem;
      logger?.warn(
        `PostgreSQL cannot use the changed address for ${name}, and uses the previous one: ${problem}`,
      );
    } finally {
      created?.retire();
      replaceFromMs = performance.now() + RETRY_ADDRESS_MS;
    }
  }

  /** Logs the reason of an outage, once. */
  function logOutage(reason: Error): void {
    if (outage && reasonOf(outage) === reasonOf(reason)) return;
    outage = reason;
    logger?.warn(`PostgreSQL cannot be used for ${name}: ${reasonOf(reason)}`);
  }

  /** Ends every call that uses or waits for a connection of `used`. */
  function beginOutage(used: DestroyablePool, reason: unknown): void {
    if (used !== current || isClosed || !(reason instanceof Error)) return;
    current = undefined;
    breaker.failed();
    if (!outage) logOutage(reason);
    used.destroy(reason);
    onLost();
  }

  function noteConnection(): void {
    respondedMs = performance.now();
    if (isRejecting) logger?.info(`PostgreSQL accepts new connections for ${name} again`);
    isRejecting = false;
    if (!outage) return;
    outage = undefined;
    breaker.succeeded();
    logger?.info(`PostgreSQL can be used again for ${name}`);
  }

  /** Whether a call whose connection to `used` was rejected can get another one. */
  function hasOther(used: DestroyablePool, reason: unknown): boolean {
    if (used !== current) return current !== undefined;
    if (used.limitToOpen()) {
      if (!isRejecting) {
        logger?.warn(
          `PostgreSQL rejects new connections for ${name}, and open ones are used: ${reasonOf(reason)}`,
        );
      }
      isRejecting = true;
      return true;
    }
    if (used.url === readUrl()) return false;
    // No connection is left to wait for until the changed address is known to work.
    current = undefined;
    used.retire();
    onLost();
    return true;
  }

  async function connect(startedMs = performance.now()): Promise<PooledClient> {
    const used = openPool();
    try {
      return { used, client: await used.pool.connect() };
    } catch (error) {
      const lost = toLost(error);
      const mayRetry = isRejected(error) && performance.now() < startedMs + waitTimeoutMs;
      if (mayRetry && hasOther(used, error)) return connect(startedMs);
      if (!isOutOfConnections(error) && respondedMs < startedMs) beginOutage(used, lost);
      throw lost;
    }
  }

  /** Rejects when `signal` aborts: the connection, once there is one, returns to the pool. */
  async function connectUntil(signal: AbortSignal): Promise<PooledClient> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort);
    const connecting = connect();
    try {
      return await Promise.race([connecting, aborted.promise]);
    } catch (error) {
      connecting.then(({ client }) => client.release()).catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async function send(
    used: DestroyablePool,
    client: PoolClient,
    statement: TimedStatement,
  ): ReturnType<Send> {
    const startedMs = performance.now();
    const endSpans = beginStatement(used.database, statement.text);
    try {
      const result = await client.query(statement);
      respondedMs = performance.now();
      endSpans?.();
      return result;
    } catch (error) {
      endSpans?.(error);
      const lost = toLost(error);
      if (isFromServer(error)) respondedMs = performance.now();
      else if (isNoResponse(error) && respondedMs < startedMs) beginOutage(used, lost);
      throw lost;
    }
  }

  async function withConnection<T>(
    work: (send: Send, client: PoolClient, isShared: boolean) => Promise<T>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<T> {
    const { used, client } = await (signal ? connectUntil(signal) : connect());
    const isShared = used.isShared(client);
    const changes = {
      ...(Number.isFinite(timeoutMs) && { query_timeout: timeoutMs + GRACE_MS }),
      // A prepared statement exists on one connection to the server, and the next one may be another.
      ...(isShared && { name: '' }),
    };
    try {
      const sendOne: Send = (statement) => send(used, client, { ...statement, ...changes });
      const result = await work(sendOne, client, isShared);
      client.release();
      return result;
    } catch (error) {
      const isLost = isConnectionLost(error);
      if (isLost) onLost();
      client.release(isLost);
      throw error;
    }
  }

  /** The statements that begin a transaction. */
  function beginOf(timeoutMs: number, isShared: boolean): string {
    const limit = `SET LOCAL statement_timeout = ${toTimeLimit(timeoutMs)}`;
    return ['BEGIN', ...(isShared ? localSettings : []), limit].join('; ');
  }

  return {
    requireAvailable() {
      if (!breaker.allowsCall()) throw unavailable(outage);
    },

    run(work, signal) {
      const timeoutMs = statementTimeoutMs;
      const runOn = (send: Send, client: PoolClient, isShared: boolean) => {
        const sendOne: Send = signal
          ? (statement) => cancelOnAbort(client, { signal, timeoutMs }, () => send(statement))
          : send;
        if (!isShared) return work(sendOne);
        return runTransaction(send, beginOf(timeoutMs, isShared), () => work(sendOne));
      };
      return withConnection(runOn, timeoutMs, signal);
    },

    transaction: (work, timeoutMs) =>
      withConnection(
        (send, _, isShared) => runTransaction(send, beginOf(timeoutMs, isShared), () => work(send)),
        timeoutMs,
      ),

    use() {
      const { totalCount = 0, idleCount = 0, waitingCount = 0 } = current?.pool ?? {};
      const max = options.poolSize;
      return { max, size: totalCount, idle: idleCount, waiting: waitingCount };
    },

    async close() {
      isClosed = true;
      const last = current;
      current = undefined;
      setTimeout(() => last?.destroy(new Error('PostgreSQL is closed')), CLOSE_STORES_MS).unref();
      await last?.pool.end();
    },
  };
}

/** Runs the statements of a transaction, or of one call, on its connection. */
export function queryOf(send: Send): Query {
  return async ({ name, text }, values = []) => {
    const { rows } = await send({ name, text, values: [...values] });
    return rows;
  };
}

/** Runs `work` in one transaction, which the statements of `begin` begin. */
async function runTransaction<T>(send: Send, begin: string, work: () => Promise<T>): Promise<T> {
  try {
    await send({ text: begin });
    const result = await work();
    const { command } = await send({ text: 'COMMIT' });
    if (command !== 'COMMIT') throw new Error('Cannot commit: a statement has failed');
    return result;
  } catch (error) {
    if (!isConnectionLost(error)) {
      await send({ text: 'ROLLBACK' }).catch((cause: unknown) => {
        throw new ConnectionLostError('Cannot roll back', { cause });
      });
    }
    throw error;
  }
}

/** `timeoutMs` as a setting of PostgreSQL; `Infinity` is no limit. */
export function toTimeLimit(timeoutMs: number): string {
  return String(Number.isFinite(timeoutMs) ? Math.ceil(timeoutMs) : 0);
}
