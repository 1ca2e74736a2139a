import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'fw';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';

import {
  ConnectionLostError,
  isConflict,
  isConnectionLost,
  reasonOf,
  toLost,
  toUnavailable,
  unavailable,
} from './postgres-errors.ts';
import { isMigrated, migrate as migrateTables, type Send } from './postgres-migrations.ts';

export { type BatchOptions, createBatch } from './batch.ts';
export { isTaken } from './postgres-errors.ts';

/** A statement that the server parses and plans once per connection: a name of its own, and its text. */
export interface Statement {
  readonly name: string;
  /** List the columns: `*` stops working in running processes once a migration has added one. */
  readonly text: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement; resolves with its rows. */
export type Query = (statement: Statement, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface PostgresOptions {
  readonly url: string;
  /** Most connections at a time. Default 10. */
  readonly poolSize?: number;
  /** How long one call may take, waiting for a connection included. Default 1 s. */
  readonly timeoutMs?: number;
  /** Whose tables these are: names the table that remembers the migrations. */
  readonly name: string;
  /** SQL that leads from each version to the next; the first from nothing to version 1. */
  readonly migrations: readonly string[];
  readonly logger?: Logger | undefined;
  /** Is given a look at the pool; `edge.metrics`. */
  readonly metrics?: PoolMetrics | undefined;
}

/** Shows how many connections a pool has, how many of those idle, and how many calls wait for one. */
export interface PoolMetrics {
  watchPool(name: string, read: () => PoolUse): void;
}

export interface PoolUse {
  readonly size: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface TransactionOptions {
  /** How long all of it may take; `Infinity` for no end. Default: as each call. */
  readonly timeoutMs?: number;
}

/** A PostgreSQL server that may come and go. */
export interface Postgres {
  readonly query: Query;
  /** Runs `work` in one transaction: all of it is kept, or none. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Brings the tables to the newest version, however long it takes; the first use does so too. */
  migrate(): Promise<void>;
  /** Rejects if the server cannot be asked. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** How often a transaction is tried that others are in the way of, and the longest first pause between. */
const CONFLICT_ATTEMPTS = 4;
const CONFLICT_PAUSE_MS = 50;

/** How long after the server should have given up on a statement this side gives up on the server. */
const GRACE_MS = 200;

/** How often a server that is away is looked for. */
const PROBE_PAUSE_MS = 200;

/** How long closing waits for the server to say good-bye. */
const CLOSE_MS = 1_000;

/**
 * Opens a PostgreSQL database. It is connected to, and its tables are brought to the newest version,
 * on first use: a server that is away is no reason not to start. While the server is away or does not
 * answer, calls reject at once with a `ServiceUnavailableError`, and one connection in the background
 * tries until it is back.
 */
export function openPostgres({
  url,
  poolSize = 10,
  timeoutMs = 1_000,
  name,
  migrations,
  logger,
  metrics,
}: PostgresOptions): Postgres {
  const limitMs = timeoutMs + GRACE_MS;
  let pool: Pool | undefined;
  let outage: { readonly reason: unknown } | undefined;
  let migrating: Promise<void> | undefined;
  let isReady = false;
  let isClosed = false;
  metrics?.watchPool(name, () => ({
    size: pool?.totalCount ?? 0,
    idle: pool?.idleCount ?? 0,
    waiting: pool?.waitingCount ?? 0,
  }));

  async function connect(): Promise<{ used: Pool; client: PoolClient }> {
    const used = pool ?? (await openPool());
    try {
      return { used, client: await used.connect() };
    } catch (error) {
      if (isBusy(error)) throw unavailable(error);
      const lost = toLost(error);
      lose(used, lost);
      throw lost;
    }
  }

  /** The driver is loaded by who needs it: it takes its time. */
  async function openPool(): Promise<Pool> {
    const { Pool } = (await import('pg')).default;
    if (isClosed) throw new RangeError(`Cannot ask for ${name}: PostgreSQL is closed`);
    pool ??= createPool(Pool, { url, poolSize, timeoutMs, name });
    return pool;
  }

  async function withClient<T>(
    work: (client: PoolClient) => Promise<T>,
    workLimitMs: number,
  ): Promise<T> {
    const { used, client } = await connect();
    try {
      const result = await within(workLimitMs, work(client));
      client.release();
      return result;
    } catch (error) {
      const isLost = isConnectionLost(error);
      client.release(isLost);
      if (isLost) lose(used, error);
      throw error;
    }
  }

  /** All connections of the pool may be as dead as the one that was found out. */
  function lose(used: Pool, reason: unknown): void {
    if (outage || isClosed || used !== pool) return;
    outage = { reason };
    isReady = false;
    logger?.warn(`PostgreSQL cannot be used for ${name}: ${reasonOf(reason)}`);
    pool = undefined;
    used.end().catch(() => {});
    void regain();
  }

  async function regain(): Promise<void> {
    while (outage && !isClosed) {
      try {
        await withClient((client) => send(client, 'SELECT 1'), limitMs);
        outage = undefined;
        logger?.info(`PostgreSQL can be used again for ${name}`);
      } catch {
        await sleep(PROBE_PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  function ready(): Promise<void> {
    migrating ??= bringUp().finally(() => {
      migrating = undefined;
    });
    return migrating;
  }

  async function bringUp(): Promise<void> {
    const tables = { name, migrations };
    if (!(await withClient((client) => isMigrated(sender(client), tables), limitMs))) {
      await withClient((client) => migrateTables(sender(client), tables), Infinity);
    }
    isReady = true;
  }

  async function use<T>(
    work: (client: PoolClient) => Promise<T>,
    workLimitMs = limitMs,
  ): Promise<T> {
    if (outage) throw unavailable(outage.reason);
    try {
      if (!isReady) await within(limitMs, ready());
      return await withClient(work, workLimitMs);
    } catch (error) {
      throw toUnavailable(error);
    }
  }

  async function transaction<T>(
    work: (query: Query) => Promise<T>,
    { timeoutMs: transactionMs = timeoutMs }: TransactionOptions = {},
  ): Promise<T> {
    return useAgain(
      (client) => runTransaction(client, work, transactionMs),
      transactionMs + GRACE_MS,
    );
  }

  /** What was in the way of another transaction may try again. */
  async function useAgain<T>(
    work: (client: PoolClient) => Promise<T>,
    workLimitMs?: number,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await use(work, workLimitMs);
      } catch (error) {
        const isLast = attempt === CONFLICT_ATTEMPTS;
        if (isLast || !(error instanceof Error) || !isConflict(error.cause)) throw error;
        // At once, this one would be back before the other has noticed that its way is free.
        await sleep(Math.random() * attempt * CONFLICT_PAUSE_MS);
      }
    }
  }

  return {
    query: (statement, values) => useAgain((client) => ask(client, statement, values)),
    transaction,
    async migrate() {
      if (!isReady) await ready();
    },
    async check() {
      await use((client) => send(client, 'SELECT 1'));
    },
    async close() {
      isClosed = true;
      const last = pool;
      pool = undefined;
      await Promise.race([last?.end(), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

type PoolOptions = Required<Pick<PostgresOptions, 'url' | 'poolSize' | 'timeoutMs' | 'name'>>;

function createPool(
  Pool: typeof import('pg').Pool,
  { url, poolSize, timeoutMs, name }: PoolOptions,
): Pool {
  const pool = new Pool({
    connectionString: url,
    fallback_application_name: name,
    max: poolSize,
    connectionTimeoutMillis: Math.ceil(timeoutMs / 2),
    idleTimeoutMillis: 30_000,
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // Without listeners the loss of a connection would end the process; whoever uses one is told anyway.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Whether all connections were at work for too long, which says nothing about the server. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

function sender(client: PoolClient): Send {
  return async (text, values = []) => (await send(client, { text, values: [...values] })).rows;
}

async function ask(
  client: PoolClient,
  { name, text }: Statement,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await send(client, { name, text, values: [...values] });
  return rows;
}

async function send(
  client: PoolClient,
  statement: string | QueryConfig,
): Promise<QueryResult<Row>> {
  try {
    return await client.query<Row>(statement);
  } catch (error) {
    throw toLost(error);
  }
}

async function runTransaction<T>(
  client: PoolClient,
  work: (query: Query) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  await send(client, 'BEGIN');
  try {
    const serverMs = Number.isFinite(timeoutMs) ? Math.ceil(timeoutMs) : 0;
    await send(client, `SET LOCAL statement_timeout = ${serverMs}`);
    const result = await work((statement, values) => ask(client, statement, values));
    const { command } = await send(client, 'COMMIT');
    if (command !== 'COMMIT') throw new Error('Cannot commit: a statement has failed');
    return result;
  } catch (error) {
    if (!isConnectionLost(error)) await send(client, 'ROLLBACK');
    throw error;
  }
}

/** @throws {ConnectionLostError} if `work` takes longer; it goes on, and nobody hears of it any more */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  if (!Number.isFinite(limitMs)) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ConnectionLostError(`no answer within ${limitMs} ms`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
