import type { Logger } from 'fw';

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

/** Connects on first use. */
export function openPostgres(_options: PostgresOptions): Postgres {
  throw new Error('Cannot open PostgreSQL yet');
}
