import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'fw';
import type { ClientConfig, Pool, PoolClient, QueryConfig, QueryResult } from 'pg';

import { AddressFileError, readAddress } from './address.ts';
import {
  type ConnectionLostError,
  isConflict,
  isConnectionLost,
  isOutOfRoom,
  reasonOf,
  toLost,
  toUnavailable,
  unavailable,
} from './errors.ts';
import { isMigrated, migrate as migrateTables, type Send } from './migrations.ts';
import { ServerWatch } from './server-watch.ts';

export { type BatchOptions, createBatch } from './batch.ts';
export { isTaken } from './errors.ts';

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
  /** After how long without any response another connection checks the server. Default 1 s. */
  readonly timeoutMs?: number;
  /**
   * How long one call may take once it has a connection. A server that sends nothing on any connection
   * for that long, not even to new connections, is unavailable. Default 5 s.
   */
  readonly statementTimeoutMs?: number;
  /** How long one call may wait for a connection of a pool that is busy. Default 15 s. */
  readonly waitTimeoutMs?: number;
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
  /** How long all of it may take once it has a connection; `Infinity` for no end. Default: as each call. */
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

/** How much longer than the server's own time limit a call waits for the response. */
const GRACE_MS = 200;

/** The pause between two attempts to reach a server that is unavailable. */
const PROBE_PAUSE_MS = 200;

/** How long closing waits for the server to close the connections. */
const CLOSE_MS = 1_000;

/** Sends one statement on one connection. */
type Connection = (statement: string | QueryConfig) => Promise<QueryResult<Row>>;

/**
 * Opens a PostgreSQL database. It connects, and migrates the tables to the newest version, on first
 * use: a service starts without its database. The server is unavailable once it refuses or resets a
 * connection, or sends nothing at all for as long as a call may take; a server that is only slow is
 * waited for, and so is a connection of the pool. While it is unavailable, calls reject at once with a `ServiceUnavailableError`, and
 * connections in the background try to reach it.
 *
 * @throws {AddressFileError} naming the certificate file of `url` that cannot be read
 */
export function openPostgres({
  url,
  poolSize = 10,
  timeoutMs = 1_000,
  statementTimeoutMs = 5_000,
  waitTimeoutMs = 15_000,
  name,
  migrations,
  logger,
  metrics,
}: PostgresOptions): Postgres {
  const limitMs = statementTimeoutMs + GRACE_MS;
  const watch = new ServerWatch({
    waitMs: waitTimeoutMs,
    silenceMs: limitMs,
    probeMs: Math.min(timeoutMs, limitMs / 2),
    probe: () => void probe(),
    onSilence,
  });
  let pool: Pool | undefined;
  let outage: { reason: unknown } | undefined;
  let migrating: Promise<void> | undefined;
  let isReady = false;
  let isClosed = false;
  readAddress(url);
  metrics?.watchPool(name, () => ({
    size: pool?.totalCount ?? 0,
    idle: pool?.idleCount ?? 0,
    waiting: pool?.waitingCount ?? 0,
  }));

  /** The driver is loaded on first use: loading it takes its time. */
  async function openPool(): Promise<Pool> {
    const { Pool } = (await import('pg')).default;
    if (isClosed) throw new RangeError(`Cannot ask for ${name}: PostgreSQL is closed`);
    pool ??= createPool(Pool, { url, poolSize, statementTimeoutMs, name })
      .on('connect', () => watch.heard())
      .on('error', doubtTables);
    return pool;
  }

  /** A server that closed a connection may return as an older copy of the database. */
  function doubtTables(): void {
    isReady = false;
  }

  async function connect(): Promise<PoolClient> {
    let used = pool;
    try {
      used ??= await openPool();
      return await used.connect();
    } catch (error) {
      const lost = toLost(error);
      if (!isConnectionLost(lost)) watch.heard();
      if (used === pool && !isClosed && !isOutOfRoom(lost)) lose(lost);
      throw lost;
    }
  }

  async function send(client: PoolClient, statement: string | QueryConfig) {
    try {
      const result = await client.query<Row>(statement);
      watch.heard();
      return result;
    } catch (error) {
      const lost = toLost(error);
      if (!isConnectionLost(lost)) watch.heard();
      throw lost;
    }
  }

  function withConnection<T>(
    work: (connection: Connection) => Promise<T>,
    workLimitMs = limitMs,
  ): Promise<T> {
    return watch.run(workLimitMs, async (call) => {
      const client = await connect();
      let isHeld = true;
      const release = (isBroken: boolean) => {
        if (isHeld) client.release(isBroken);
        isHeld = false;
      };
      try {
        if (call.isOver) throw unavailable('it took too long to connect');
        call.connected(() => release(true));
        const result = await work((statement) => send(client, statement));
        release(false);
        return result;
      } catch (error) {
        const isLost = isConnectionLost(error);
        if (isLost) doubtTables();
        release(isLost);
        throw error;
      }
    });
  }

  function onSilence(reason: ConnectionLostError): void {
    lose(reason);
    watch.giveUp(reason);
  }

  /** Begins an outage: the connections of the pool may be as dead as the server. */
  function lose(reason: unknown): void {
    if (isClosed || outage) return;
    outage = { reason };
    doubtTables();
    logger?.warn(`PostgreSQL cannot be used for ${name}: ${reasonOf(reason)}`);
    pool?.end().catch(() => {});
    pool = undefined;
    watch.giveUpWaiting(unavailable(reason));
    void regain(outage);
  }

  /** An attempt that gets no response does not delay the next one; the first to succeed counts. */
  async function regain(current: typeof outage): Promise<void> {
    while (outage === current && !isClosed) {
      await Promise.race([probe(), sleep(timeoutMs, undefined, { ref: false })]);
      await sleep(PROBE_PAUSE_MS, undefined, { ref: false });
    }
  }

  function endOutage(): void {
    if (!outage || isClosed) return;
    outage = undefined;
    logger?.info(`PostgreSQL can be used again for ${name}`);
  }

  /** Tries to open a new connection. Success proves that the server works, refusal that it does not. */
  async function probe(): Promise<void> {
    const { Client } = (await import('pg')).default;
    let client: InstanceType<typeof Client> | undefined;
    try {
      client = new Client({
        ...serverOptions({ url, name }),
        connectionTimeoutMillis: limitMs,
      }).on('error', () => {});
      await client.connect();
      watch.heard();
      endOutage();
    } catch (error) {
      const lost = toLost(error);
      if (!isConnectionLost(lost)) watch.heard();
      else if (lost instanceof AddressFileError) report(lost);
      else if (!isLate(error)) lose(lost);
    } finally {
      client?.end().catch(() => {});
    }
  }

  /** During an outage a file that is missing is another reason, which an operator has to know. */
  function report(missing: AddressFileError): void {
    if (!outage || reasonOf(outage.reason) === missing.message) return;
    outage.reason = missing;
    logger?.warn(`PostgreSQL cannot be used for ${name}: ${missing.message}`);
  }

  function ready(): Promise<void> {
    migrating ??= bringUp().finally(() => {
      migrating = undefined;
    });
    return migrating;
  }

  async function bringUp(): Promise<void> {
    const tables = { name, migrations };
    if (!(await withConnection((connection) => isMigrated(rowsOf(connection), tables)))) {
      await withConnection((connection) => migrateTables(rowsOf(connection), tables), Infinity);
    }
    isReady = true;
  }

  async function use<T>(
    work: (connection: Connection) => Promise<T>,
    workLimitMs?: number,
  ): Promise<T> {
    if (outage) throw unavailable(outage.reason);
    try {
      if (!isReady) await watch.run(limitMs, ready);
      return await withConnection(work, workLimitMs);
    } catch (error) {
      throw toUnavailable(error);
    }
  }

  async function transaction<T>(
    work: (query: Query) => Promise<T>,
    { timeoutMs: transactionMs = statementTimeoutMs }: TransactionOptions = {},
  ): Promise<T> {
    return useAgain(
      (connection) => runTransaction(connection, work, transactionMs),
      transactionMs + GRACE_MS,
    );
  }

  /** What was in the way of another transaction may try again. */
  async function useAgain<T>(
    work: (connection: Connection) => Promise<T>,
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
    query: (statement, values) => useAgain((connection) => ask(connection, statement, values)),
    transaction,
    async migrate() {
      if (isReady) return;
      await ready().catch((error: unknown) => {
        throw toUnavailable(error);
      });
    },
    async check() {
      // It would wait behind the other calls, and prove less than they do.
      if (isReady && watch.isAsking) return;
      await use((connection) => connection('SELECT 1'));
    },
    async close() {
      isClosed = true;
      const last = pool;
      pool = undefined;
      await Promise.race([last?.end(), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

function serverOptions({ url, name }: Pick<PostgresOptions, 'url' | 'name'>): ClientConfig {
  return { fallback_application_name: name, ...readAddress(url) };
}

type PoolOptions = Required<
  Pick<PostgresOptions, 'url' | 'poolSize' | 'statementTimeoutMs' | 'name'>
>;

/** The pool has no time limit of its own: `ServerWatch` ends calls that wait too long. */
function createPool(
  Pool: typeof import('pg').Pool,
  { url, poolSize, statementTimeoutMs, name }: PoolOptions,
): Pool {
  const pool = new Pool({
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...serverOptions({ url, name }),
    max: poolSize,
    idleTimeoutMillis: 30_000,
  });
  // Without a listener the loss of a connection would end the process; its call gets the error anyway.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The driver's error when its time limit for a connection ends: no evidence of anything. */
function isLate(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout expired';
}

function rowsOf(connection: Connection): Send {
  return async (text, values = []) => (await connection({ text, values: [...values] })).rows;
}

async function ask(
  connection: Connection,
  { name, text }: Statement,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await connection({ name, text, values: [...values] });
  return rows;
}

async function runTransaction<T>(
  connection: Connection,
  work: (query: Query) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  await connection('BEGIN');
  try {
    const serverMs = Number.isFinite(timeoutMs) ? Math.ceil(timeoutMs) : 0;
    await connection(`SET LOCAL statement_timeout = ${serverMs}`);
    const result = await work((statement, values) => ask(connection, statement, values));
    const { command } = await connection('COMMIT');
    if (command !== 'COMMIT') throw new Error('Cannot commit: a statement has failed');
    return result;
  } catch (error) {
    if (!isConnectionLost(error)) await connection('ROLLBACK');
    throw error;
  }
}
