/// <reference types="node" preserve="true" />

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { ServiceUnavailableError } from 'fw';

import {
  checksumOf,
  fromStatement,
  migrationFailed,
  requireUnchanged,
} from '../stores/migrations.ts';
import { beginStatement, hasStatementSpans } from '../tracing/tracing.ts';
import { isBusy } from './errors.ts';

export { sqliteIdempotency, sqliteIdempotencyTable } from '../stores/idempotency.ts';
export { isBusy, orUnavailable } from './errors.ts';
export { createGroupCommit, type GroupCommit, type GroupCommitOptions } from './group-commit.ts';

/** The format of a service's database file. */
export interface DatabaseFormat {
  /** Marks the file as this service's (`PRAGMA application_id`): a 32-bit integer other than 0. */
  readonly applicationId: number;
  /**
   * SQL that migrates each version to the next; the first creates version 1. The previous version of the
   * program must still work afterwards: it may run at the same time.
   */
  readonly migrations: readonly string[];
}

export interface OpenOptions {
  /** How long opening waits for the writes of another process, such as a migration, in ms. Default 5,000. */
  readonly timeoutMs?: number;
}

const BUSY_PAUSE_MS = 5;

/** The table of the checksums of applied migrations. */
const CHECKSUMS = 'fw_migrations';

/**
 * Size of the log, in pages, at which SQLite moves it into the file: 16 MB. The default of 1,000 pages slows
 * inserts by a sixth; a larger log makes the move block longer.
 */
const CHECKPOINT_PAGES = 4_000;

/**
 * Opens a database file that several processes may share, and migrates it to the newest version. Commits
 * are durable: the write-ahead log is synchronised at every commit. A version newer than this program
 * knows is opened without a change; a file of another program is rejected without a change. A file of this
 * version can be opened while another process writes to it.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process locks it longer than `timeoutMs`
 * @throws {Error} naming the file, if it is not such a database or cannot be opened, or if a migration fails
 *   or has changed since it was applied
 */
export function openDatabase(
  file: string,
  format: DatabaseFormat,
  { timeoutMs = 5_000 }: OpenOptions = {},
): DatabaseSync {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      mkdirSync(dirname(file), { recursive: true });
      return openOnce(file, format, timeoutMs);
    } catch (error) {
      // SQLite does not wait when two processes switch to the write-ahead log at the same time.
      if (isBusy(error) && performance.now() < endMs) {
        pauseThread(BUSY_PAUSE_MS);
        continue;
      }
      const reason = error instanceof Error ? error.message : String(error);
      const OpenError = isBusy(error) ? ServiceUnavailableError : Error;
      throw new OpenError(`Cannot open database "${file}": ${reason}`, { cause: error });
    }
  }
}

function openOnce(file: string, format: DatabaseFormat, timeoutMs: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: timeoutMs });
  try {
    // Only a migration needs the write lock, which another process may have for a long time.
    const version = inSnapshot(database, () => readVersion(database, format));
    if (version < format.migrations.length) migrate(database, format);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    if (hasStatementSpans()) traceStatements(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A value that no other thread changes. */
const never = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread, including its event loop. */
function pauseThread(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}

/** Runs `work` in one write transaction, which is rolled back if `work` throws. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  return finish(database, work);
}

/** Runs `work`, which only reads, on one state of the database. */
export function inSnapshot<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN');
  return finish(database, work);
}

function finish<T>(database: DatabaseSync, work: () => T): T {
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After some failures, such as a full disk, SQLite has rolled back the transaction itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The versions that `openDatabase` applied. */
const applied = new WeakMap<DatabaseSync, readonly number[]>();

/** The versions to which `openDatabase` migrated `database`; none if it had the newest one. */
export function appliedMigrations(database: DatabaseSync): readonly number[] {
  return applied.get(database) ?? [];
}

/** In one transaction, because another process may be starting on the same new file. */
function migrate(database: DatabaseSync, format: DatabaseFormat): void {
  const { applicationId, migrations } = format;
  inTransaction(database, () => {
    const before = readVersion(database, format);
    if (before >= migrations.length) return;
    const versions = migrations.map((_, index) => index + 1).slice(before);
    for (const version of versions) apply(database, version, migrations[version - 1] ?? '');
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    recordChecksums(database, migrations);
    applied.set(database, versions);
  });
}

/** SQLite compiles a text up to the end of its first statement. */
function apply(database: DatabaseSync, version: number, migration: string): void {
  let rest = fromStatement(migration);
  while (rest !== '') {
    try {
      const statement = database.prepare(rest);
      statement.run();
      rest = fromStatement(rest.slice(statement.sourceSQL.length));
    } catch (error) {
      throw error instanceof Error ? migrationFailed(version, rest, error) : error;
    }
  }
}

/** Also of the versions that an earlier program applied. */
function recordChecksums(database: DatabaseSync, migrations: readonly string[]): void {
  database.exec(
    `CREATE TABLE IF NOT EXISTS ${CHECKSUMS} (version INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT`,
  );
  const insert = database.prepare(`INSERT OR IGNORE INTO ${CHECKSUMS} VALUES (?, ?)`);
  for (const [index, text] of migrations.entries()) insert.run(index + 1, checksumOf(text));
}

/** @throws {Error} if the file belongs to another program, or a migration has changed since it was applied */
function readVersion(
  database: DatabaseSync,
  { applicationId, migrations }: DatabaseFormat,
): number {
  const owner = readNumber(database, 'SELECT application_id FROM pragma_application_id');
  const tables = readNumber(database, 'SELECT count(*) FROM sqlite_schema');
  if (owner !== applicationId && (owner !== 0 || tables > 0)) {
    throw new Error('it belongs to another program');
  }
  const isKnown = `SELECT count(*) FROM sqlite_schema WHERE name = '${CHECKSUMS}'`;
  if (readNumber(database, isKnown) > 0) {
    const rows = database.prepare(`SELECT version, checksum FROM ${CHECKSUMS}`).all();
    requireUnchanged(migrations, new Map(rows.map((row) => [Number(row.version), row.checksum])));
  }
  return readNumber(database, 'SELECT user_version FROM pragma_user_version');
}

function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}

const SQLITE = { system: 'sqlite' } as const;

/** Makes each statement of `database` that a request runs a span of the request. */
function traceStatements(database: DatabaseSync): void {
  const { prepare, exec } = database;
  database.exec = (text) => traced(text, () => exec.call(database, text));
  database.prepare = (text, ...options) => {
    const statement = prepare.call(database, text, ...options);
    for (const method of ['all', 'get', 'run'] as const) {
      const original = statement[method];
      Object.defineProperty(statement, method, {
        value: (...values: unknown[]) =>
          traced(text, () => Reflect.apply(original, statement, values)),
      });
    }
    return statement;
  };
}

function traced<T>(text: string, work: () => T): T {
  const end = beginStatement(SQLITE, text);
  if (!end) return work();
  try {
    const result = work();
    end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}
