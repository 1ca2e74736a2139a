import type { DatabaseSync } from 'node:sqlite';

import { keyInUse, type TransactionStore } from '@fw/middleware/idempotency';

import { type IdempotencyTable, readTable } from '../stores/idempotency-table.ts';
import { orUnavailable } from './errors.ts';

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
