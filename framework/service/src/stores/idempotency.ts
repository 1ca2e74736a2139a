import type { DatabaseSync } from 'node:sqlite';

import { check, readOptions } from '@fw/core/options';
import { type Attempt, keyInUse, type TransactionStore } from '@fw/middleware/idempotency';

import { createBatch } from '../postgres/batch.ts';
import type { Query } from '../postgres/query.ts';
import { orUnavailable } from '../sqlite/errors.ts';

/** The table of the responses of `idempotency()`. */
export interface IdempotencyTable {
  /** Default `idempotency`. */
  readonly table?: string;
  /** The column of the response. Default `response`. */
  readonly column?: string;
}

const aName = check('up to 40 of a to z, 0 to 9 and "_"', (value) =>
  /^[a-z][a-z0-9_]{0,39}$/.test(String(value)),
);

/** @throws {TypeError} if a name cannot be part of a statement */
function readTable(owner: string, options: IdempotencyTable = {}): Required<IdempotencyTable> {
  const { table = 'idempotency', column = 'response' } = readOptions(owner, options, {
    table: aName,
    column: aName,
  });
  return { table, column };
}

/** Each write deletes up to this many expired keys and adds at most one, so that the table cannot grow. */
const PURGE = 10;

/** SQL for a migration: creates the table of `sqliteIdempotency`. */
export function sqliteIdempotencyTable(options?: IdempotencyTable): string {
  const { table, column } = readTable('sqliteIdempotencyTable()', options);
  return `CREATE TABLE ${table} (
      key         TEXT PRIMARY KEY,
      fingerprint TEXT NOT NULL,
      "${column}" TEXT NOT NULL,
      created_at  INTEGER NOT NULL -- milliseconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX ${table}_by_age ON ${table} (created_at);`;
}

/**
 * Stores responses of `idempotency()` in a table of `database`. `save(database)` is part of the current
 * transaction, such as `write(work)` of a group commit.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function sqliteIdempotency(
  database: DatabaseSync,
  options?: IdempotencyTable,
): TransactionStore<DatabaseSync> {
  const { table, column } = readTable('sqliteIdempotency()', options);
  const recall = database.prepare(
    `SELECT fingerprint, "${column}" AS response FROM ${table} WHERE key = ? AND created_at > ?`,
  );
  const remember = database.prepare(
    `INSERT INTO ${table} (key, fingerprint, "${column}", created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint,
       "${column}" = excluded."${column}", created_at = excluded.created_at
     WHERE created_at <= ?`,
  );
  const purge = database.prepare(
    `DELETE FROM ${table} WHERE key IN
       (SELECT key FROM ${table} WHERE created_at <= ? ORDER BY created_at LIMIT ${PURGE})`,
  );

  return {
    async find({ key, nowMs, retentionMs }) {
      const row = orUnavailable(() => recall.get(key, nowMs - retentionMs));
      return row && { fingerprint: String(row.fingerprint), response: String(row.response) };
    },
    save(transaction, { key, fingerprint, nowMs, retentionMs }, response) {
      if (transaction !== database || !database.isTransaction) {
        throw new TypeError('Cannot save the response: expected the database, in a transaction');
      }
      const expiredMs = nowMs - retentionMs;
      const { changes } = remember.run(key, fingerprint, response, nowMs, expiredMs);
      if (changes === 0) throw keyInUse();
      purge.run(expiredMs);
    },
  };
}

/** Time between two deletions of expired keys. */
const PURGE_EVERY_MS = 60_000;

/** SQL for a migration: creates the table of `postgresIdempotency`. */
export function postgresIdempotencyTable(options?: IdempotencyTable): string {
  const { table, column } = readTable('postgresIdempotencyTable()', options);
  return `CREATE TABLE ${table} (
      key         text COLLATE "C" PRIMARY KEY,
      fingerprint text NOT NULL,
      "${column}" text NOT NULL,
      created_at  timestamptz NOT NULL
    );
    CREATE INDEX ${table}_by_age ON ${table} (created_at);`;
}

/** A response for `postgresIdempotencyInsert`. */
export interface PendingResponse {
  readonly attempt: Attempt;
  readonly response: string;
}

/**
 * SQL that stores responses and returns each `key` that was free, for the `WITH` of another statement. Its parameters
 * are `postgresIdempotencyValues`, unless `rows` is a table with these columns, and `retention` another parameter.
 *
 * @throws {TypeError} if a name cannot be part of a statement
 */
export function postgresIdempotencyInsert({
  rows = `unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
        AS new (key, fingerprint, response, received_at)`,
  retention = '$5',
  ...options
}: IdempotencyTable & { readonly rows?: string; readonly retention?: string } = {}): string {
  const { table, column } = readTable('postgresIdempotencyInsert()', options);
  return `INSERT INTO ${table} AS known (key, fingerprint, "${column}", created_at)
      SELECT key, fingerprint, response, received_at FROM ${rows} WHERE key IS NOT NULL ORDER BY key
      ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint,
        "${column}" = excluded."${column}", created_at = excluded.created_at
      WHERE known.created_at <= excluded.created_at - make_interval(secs => ${retention})
      RETURNING key`;
}

/** The parameters of `postgresIdempotencyInsert`: an array for each column, and the retention. */
export function postgresIdempotencyValues(responses: readonly (PendingResponse | undefined)[]) {
  return [
    responses.map((each) => each?.attempt.key),
    responses.map((each) => each?.attempt.fingerprint),
    responses.map((each) => each?.response),
    responses.map((each) => each && new Date(each.attempt.nowMs)),
    Math.max(...responses.map((each) => each?.attempt.retentionMs ?? 0)) / 1_000,
  ];
}

/** The responses that one transaction stores with one statement. */
interface Saving {
  readonly responses: PendingResponse[];
  readonly keys: Promise<ReadonlySet<unknown>>;
}

/**
 * Stores responses of `idempotency()` in a table of `database`. `save(query)` is part of the transaction
 * of `query`, which `database.transaction()` passes to its work. `save(responses)` only adds the response to that list:
 * the caller stores it with `postgresIdempotencyInsert`.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function postgresIdempotency(
  database: { readonly query: Query },
  options?: IdempotencyTable,
): TransactionStore<Query | PendingResponse[]> {
  const { table, column } = readTable('postgresIdempotency()', options);
  const recall = {
    name: `${table}_recall`,
    text: `SELECT key, fingerprint, "${column}" AS response, created_at FROM ${table}
      WHERE key = ANY ($1::text[])`,
  };
  const remember = {
    name: `${table}_remember`,
    text: postgresIdempotencyInsert({ table, column }),
  };
  const purge = {
    name: `${table}_purge`,
    text: `DELETE FROM ${table} WHERE key IN
      (SELECT key FROM ${table} WHERE created_at <= $1 ORDER BY created_at LIMIT 1000)`,
  };
  const savings = new WeakMap<Query, Saving>();
  let purgedMs = Number.NEGATIVE_INFINITY;

  const find = createBatch(async (attempts: readonly Attempt[]) => {
    const rows = await database.query(recall, [attempts.map(({ key }) => key)]);
    const found = new Map(rows.map((row) => [row.key, row]));
    return attempts.map(({ key, nowMs, retentionMs }) => {
      const row = found.get(key);
      if (!row || Number(row.created_at) <= nowMs - retentionMs) return undefined;
      return { fingerprint: String(row.fingerprint), response: String(row.response) };
    });
  });

  /** Stores what one turn of the event loop saves in the transaction of `query`. */
  async function store(query: Query): Promise<ReadonlySet<unknown>> {
    await Promise.resolve(); // after all calls of this turn
    const { responses } = savings.get(query) as Saving;
    savings.delete(query);
    const rows = await query(remember, postgresIdempotencyValues(responses));
    return new Set(rows.map(({ key }) => key));
  }

  /** Deletes expired keys in the background: the caller does not wait. */
  function deleteExpired({ nowMs, retentionMs }: Attempt): void {
    if (nowMs - purgedMs < PURGE_EVERY_MS) return;
    purgedMs = nowMs;
    database.query(purge, [new Date(nowMs - retentionMs)]).catch(() => {});
  }

  async function saveIn(query: Query, pending: PendingResponse): Promise<void> {
    if (query === database.query) {
      throw new TypeError('Cannot save the response: expected the query of a transaction');
    }
    const saving = savings.get(query) ?? { responses: [], keys: store(query) };
    savings.set(query, saving);
    saving.responses.push(pending);
    const keys = await saving.keys;
    if (!keys.has(pending.attempt.key)) throw keyInUse();
    deleteExpired(pending.attempt);
  }

  return {
    find,
    save(target, attempt, response) {
      if (typeof target === 'function') return saveIn(target, { attempt, response });
      target.push({ attempt, response });
      deleteExpired(attempt);
    },
  };
}
