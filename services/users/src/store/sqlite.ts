import { createGroupCommit, inSnapshot, openDatabase, orUnavailable } from '@fw/service/sqlite';

import {
  type DeleteOutcome,
  type Idempotency,
  type InsertOutcome,
  MAX_BATCH_USERS,
  type PageOptions,
  type StatisticsOptions,
  type UpdateOutcome,
  type UserPage,
  type UserStore,
} from '../store.ts';
import type { User, UserChanges } from '../user.ts';
import { BATCH_COLUMNS, cutBatch, isLarge } from './batch.ts';
import { fromReplay, REMEMBERED_MS, toReplay } from './replay.ts';
import { isStale, type Row, toUser } from './row.ts';
import { USERS_FORMAT } from './sqlite-format.ts';
import { daysOf, nameDays } from './statistics.ts';

export interface SqliteUserStoreOptions {
  /** How long opening and writing wait for other processes, in milliseconds. Default 1,000. */
  readonly timeoutMs?: number;
}

const COLUMNS = 'position, id, name, email, created_at, updated_at, version';

/** Each write deletes up to this many expired keys and adds at most one, so that the table cannot grow. */
const PURGE = 10;

/**
 * Opens a store of users in an SQLite file, which several processes may share.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process locks it longer than `timeoutMs`
 * @throws {Error} naming the file, if it cannot be opened or belongs to another program
 */
export function openSqliteUserStore(
  file: string,
  { timeoutMs = 1_000 }: SqliteUserStoreOptions = {},
): UserStore {
  const database = openDatabase(file, USERS_FORMAT, { timeoutMs });
  const { write } = createGroupCommit(database, { timeoutMs });
  const sql = (text: string) => database.prepare(text);

  const any = sql('SELECT 1 FROM users LIMIT 1');
  const count = sql('SELECT coalesce(sum(users), 0) AS total FROM days');
  const list = sql(`SELECT ${BATCH_COLUMNS} FROM users ORDER BY position LIMIT ? OFFSET ?`);
  const page = sql(
    `SELECT ${BATCH_COLUMNS} FROM users WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const pageOfEmail = sql(
    `SELECT ${BATCH_COLUMNS} FROM users WHERE email_folded = lower(?) AND position > ?
     ORDER BY position LIMIT ?`,
  );
  const find = sql(`SELECT ${COLUMNS} FROM users WHERE id = ?`);
  const other = sql('SELECT 1 FROM users WHERE email_folded = lower(?) AND id <> ? LIMIT 1');
  const insert = sql(
    `INSERT INTO users (id, name, email, created_at, updated_at, version)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const update = sql(
    `UPDATE users SET name = coalesce(?, name), email = coalesce(?, email), updated_at = ?,
       version = version + 1
     WHERE id = ? RETURNING ${COLUMNS}`,
  );
  const remove = sql('DELETE FROM users WHERE id = ?');
  const recall = sql(
    'SELECT fingerprint, "user" FROM idempotency WHERE key = ? AND created_at > ?',
  );
  const remember = sql('INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?)');
  const purge = sql(
    `DELETE FROM idempotency WHERE key IN
       (SELECT key FROM idempotency WHERE created_at <= ? ORDER BY created_at LIMIT ${PURGE})`,
  );
  const byDay = sql('SELECT day, users FROM days WHERE day >= ? AND day < ?');
  const byDomain = sql('SELECT domain, users FROM domains ORDER BY users DESC, domain LIMIT ?');

  function insertRow({ id, name, email, createdAt, updatedAt, version }: User): void {
    insert.run(id, name, email, createdAt.getTime(), updatedAt.getTime(), version);
  }

  function readBatch(rows: readonly Row[], most?: number): UserPage {
    const { rows: batch, ...rest } = cutBatch(rows, most);
    const [first] = batch;
    if (!first || !isLarge(first)) return { users: batch.map(toUser), ...rest };
    const row = find.get(String(first.id));
    return { users: row ? [toUser(row)] : [], ...rest };
  }

  function change(id: string, { name, email }: UserChanges, updatedAt: Date): User | undefined {
    const row = update.get(name ?? null, email ?? null, updatedAt.getTime(), id);
    return row && toUser(row);
  }

  return {
    async list({ start, limit } = { start: 0, limit: Number.MAX_SAFE_INTEGER }) {
      return read(() => ({
        ...readBatch(list.all(Math.min(limit, MAX_BATCH_USERS + 1), start)),
        total: Number(count.get()?.total),
      }));
    },

    async page({ after = 0, limit, email }: PageOptions) {
      const most = Math.min(limit, MAX_BATCH_USERS);
      return orUnavailable(() =>
        readBatch(
          email === undefined ? page.all(after, most + 1) : pageOfEmail.all(email, after, most + 1),
          most,
        ),
      );
    },

    async find(id) {
      const row = orUnavailable(() => find.get(id));
      return row && toUser(row);
    },

    async statistics(options: StatisticsOptions) {
      return read(() => {
        const { first, end } = daysOf(options);
        const days = byDay.all(first, end);
        const domains = byDomain.all(options.domains);
        return {
          total: Number(count.get()?.total),
          byDay: nameDays(
            options,
            days.map(({ day, users }) => [Number(day), Number(users)]),
          ),
          byDomain: domains.map(({ domain, users }) => ({
            domain: String(domain),
            count: Number(users),
          })),
        };
      });
    },

    insert: (user) => write(() => insertRow(user)),

    insertUnique: (user: User, idempotency?: Idempotency) =>
      write((): InsertOutcome => {
        const expiredMs = user.createdAt.getTime() - REMEMBERED_MS;
        const known = idempotency && recall.get(idempotency.key, expiredMs);
        if (known) {
          if (known.fingerprint !== idempotency.fingerprint) return { outcome: 'key-reused' };
          return { outcome: 'replayed', user: fromReplay(String(known.user)) };
        }
        if (other.get(user.email, user.id)) return { outcome: 'email-taken' };
        insertRow(user);
        if (idempotency) {
          const { key, fingerprint } = idempotency;
          remember.run(key, fingerprint, toReplay(user), user.createdAt.getTime());
          purge.run(expiredMs);
        }
        return { outcome: 'created', user };
      }),

    update: (id, changes, updatedAt) => write(() => change(id, changes, updatedAt)),

    updateUnique: (id, changes, updatedAt, ifVersion) =>
      write((): UpdateOutcome => {
        const present = find.get(id);
        if (!present) return { outcome: 'missing' };
        if (isStale(present, ifVersion)) return { outcome: 'stale' };
        if (changes.email !== undefined && other.get(changes.email, id)) {
          return { outcome: 'email-taken' };
        }
        const user = change(id, changes, updatedAt);
        return user ? { outcome: 'updated', user } : { outcome: 'missing' };
      }),

    delete: (id, ifVersion) =>
      write((): DeleteOutcome => {
        const present = find.get(id);
        if (!present) return 'missing';
        if (isStale(present, ifVersion)) return 'stale';
        remove.run(id);
        return 'deleted';
      }),

    async migrate() {},

    async check() {
      orUnavailable(() => any.get());
    },

    async close() {
      await write(() => {}).catch(() => {}); // after the pending writes
      database.close();
    },
  };

  function read<T>(work: () => T): T {
    return orUnavailable(() => inSnapshot(database, work));
  }
}
