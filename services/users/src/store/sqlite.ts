import type { Slice } from '@fw/service';
import {
  appliedMigrations,
  createGroupCommit,
  inSnapshot,
  openDatabase,
  orUnavailable,
  sqliteIdempotency,
} from '@fw/service/sqlite';

import type { InsertOptions, UserStore } from '../store.ts';
import type { Outcome } from '../user.ts';
import {
  COLUMNS,
  daysOf,
  isStale,
  MAX_BATCH_USERS,
  parseUser,
  readBatch,
  serializeUser,
  toFigures,
  toUser,
} from './rows.ts';
import { USERS_FORMAT } from './sqlite-migrations.ts';

/**
 * Opens a store of users in an SQLite file, which several processes may share. Opening and writing wait
 * for other processes up to `timeoutMs`, by default 1 s.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process locks it longer than `timeoutMs`
 * @throws {Error} naming the file, if it cannot be opened or belongs to another program
 */
export function openSqliteUserStore(
  file: string,
  { timeoutMs = 1_000 }: { readonly timeoutMs?: number } = {},
): UserStore {
  const database = openDatabase(file, USERS_FORMAT, { timeoutMs });
  const { write } = createGroupCommit(database, { timeoutMs });
  const sql = (text: string) => database.prepare(text);

  const any = sql('SELECT 1 FROM users LIMIT 1');
  const count = sql('SELECT coalesce(sum(users), 0) AS total FROM days');
  const list = sql(
    `SELECT ${COLUMNS} FROM users WHERE position >= ? ORDER BY position LIMIT ? OFFSET ?`,
  );
  const range = sql(
    `SELECT max(first) AS first, max(before) AS before FROM (
       SELECT first, sum(users) OVER (ORDER BY first) - users AS before FROM ranges
       WHERE bits = ? AND first >= ? AND first < ?
     ) WHERE before <= ?`,
  );
  const page = sql(`SELECT ${COLUMNS} FROM users WHERE position > ? ORDER BY position LIMIT ?`);
  const pageOfEmail = sql(
    `SELECT ${COLUMNS} FROM users WHERE email_folded = lower(?) AND position > ?
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
  const figures = sql(
    `SELECT 'total' AS kind, NULL AS name, coalesce(sum(users), 0) AS count FROM days
     UNION ALL
     SELECT 'day', day, users FROM days WHERE day BETWEEN ? AND ?
     UNION ALL
     SELECT * FROM (SELECT 'domain', domain, users FROM domains ORDER BY users DESC, domain LIMIT ?)`,
  );

  /** Reads users from the index `start`. `OFFSET` alone would read all users before it. */
  function readSlice({ start, limit }: Slice) {
    let first = 0;
    let end = Number.MAX_SAFE_INTEGER;
    let skipped = start;
    for (const bits of start < 1_024 ? [] : [16, 10]) {
      const row = range.get(bits, first, end, skipped);
      first = Number(row?.first ?? 0);
      end = first + 2 ** bits;
      skipped -= Number(row?.before ?? 0);
    }
    return list.all(first, limit, skipped);
  }

  return {
    idempotency: sqliteIdempotency(database, { column: 'user' }),

    readCreated: parseUser,

    async list({ start, limit } = { start: 0, limit: Number.MAX_SAFE_INTEGER }) {
      const { rows, total } = orUnavailable(() =>
        inSnapshot(database, () => ({
          rows: readSlice({ start, limit: Math.min(limit, MAX_BATCH_USERS + 1) }),
          total: Number(count.get()?.total),
        })),
      );
      return { ...readBatch(rows), total };
    },

    async page({ after = 0, limit, email }) {
      const most = Math.min(limit, MAX_BATCH_USERS);
      const rows = orUnavailable(() =>
        email === undefined ? page.all(after, most + 1) : pageOfEmail.all(email, after, most + 1),
      );
      return readBatch(rows, most);
    },

    async find(id) {
      const row = orUnavailable(() => find.get(id));
      return row && toUser(row);
    },

    async figures({ domains, ...options }) {
      const days = daysOf(options);
      return toFigures(
        orUnavailable(() => figures.all(days.first, days.last, domains)),
        days,
      );
    },

    insert: (user, { uniqueEmail, idempotency }: Partial<InsertOptions> = {}) =>
      write((): Outcome => {
        const { id, name, email, createdAt, updatedAt, version } = user;
        if (uniqueEmail && other.get(email, id)) return 'email-taken';
        insert.run(id, name, email, createdAt.getTime(), updatedAt.getTime(), version);
        idempotency?.save(database, serializeUser(user));
        return user;
      }),

    update: (id, { name, email }, { updatedAt, uniqueEmail, ifVersion }) =>
      write((): Outcome => {
        const present = find.get(id);
        if (!present) return 'missing';
        if (isStale(present, ifVersion)) return 'stale';
        if (uniqueEmail && email !== undefined && other.get(email, id)) return 'email-taken';
        const row = update.get(name ?? null, email ?? null, updatedAt.getTime(), id);
        return row ? toUser(row) : 'missing';
      }),

    delete: (id, ifVersion) =>
      write((): Outcome => {
        const present = find.get(id);
        if (!present) return 'missing';
        if (isStale(present, ifVersion)) return 'stale';
        remove.run(id);
        return toUser(present);
      }),

    migrate: async () => appliedMigrations(database),

    async check() {
      orUnavailable(() => any.get());
    },

    async close() {
      await write(() => {}).catch(() => {}); // after the pending writes
      database.close();
    },
  };
}
