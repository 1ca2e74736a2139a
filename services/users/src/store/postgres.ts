import {
  createBatch,
  isTaken,
  openPostgres,
  type PostgresOptions,
  type Row,
} from '@fw/service/postgres';

import { expiryAt, type Idempotency, replay, toReplay } from '../idempotency.ts';
import type { UserStore } from '../store.ts';
import type { Outcome, User } from '../user.ts';
import { foldedEmail, USERS_MIGRATIONS } from './postgres-migrations.ts';
import {
  BATCH_COLUMNS,
  COLUMNS,
  daysOf,
  isStale,
  MAX_BATCH_USERS,
  readBatch,
  toFigures,
  toUser,
} from './rows.ts';

const ROWS =
  'unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int[]';

const UPDATE = `UPDATE users SET name = coalesce($2, name), email = coalesce($3, email),
      updated_at = $4, version = version + 1,`;

const IS_CURRENT = 'id = $1 AND version = coalesce($5::int, version)';

/** The statements by name: the server prepares each of them once per connection. */
const SQL = {
  check: 'SELECT 1 FROM users LIMIT 1',

  list: `SELECT total, slice.*
    FROM (SELECT coalesce(sum(users), 0) AS total FROM users_counts WHERE kind = 'day') AS counted
    LEFT JOIN (SELECT ${BATCH_COLUMNS} FROM users ORDER BY position LIMIT $1 OFFSET $2) AS slice
      ON true
    ORDER BY position`,

  page: `SELECT ${BATCH_COLUMNS} FROM users WHERE position > $1 ORDER BY position LIMIT $2`,

  page_of_email: `SELECT ${BATCH_COLUMNS} FROM users
    WHERE email_folded = ${foldedEmail('$3')} AND position > $1
    ORDER BY email_folded, position LIMIT $2`,

  find: `SELECT ${COLUMNS} FROM users WHERE id = ANY ($1::text[])`,

  insert: `INSERT INTO users (id, name, email, created_at, updated_at, version)
    SELECT id, name, email, created_at, updated_at, version
    FROM ${ROWS}) WITH ORDINALITY AS new (id, name, email, created_at, updated_at, version, at)
    ORDER BY at`,

  /** Returns the ids of the created users: those whose e-mail was free. Fails if a key is known. */
  insert_unique: `WITH new AS MATERIALIZED (
      SELECT * FROM ${ROWS}, $7::text[], $8::text[], $9::text[]) WITH ORDINALITY AS new
        (id, name, email, created_at, updated_at, version, key, fingerprint, replay, at)
    ), created AS (
      INSERT INTO users (id, name, email, created_at, updated_at, version, claims_email)
      SELECT id, name, email, created_at, updated_at, version, true
      FROM new
      WHERE NOT EXISTS (SELECT FROM users WHERE email_folded = ${foldedEmail('new.email')})
      ORDER BY at
      ON CONFLICT (email_folded) WHERE claims_email DO NOTHING
      RETURNING id
    ), remembered AS (
      INSERT INTO users_idempotency (key, fingerprint, "user", created_at)
      SELECT key, fingerprint, replay, created_at FROM new JOIN created USING (id)
      WHERE key IS NOT NULL
    )
    SELECT id FROM created`,

  recall: 'SELECT fingerprint, "user" FROM users_idempotency WHERE key = $1 AND created_at > $2',

  delete_key: 'DELETE FROM users_idempotency WHERE key = $1 AND created_at <= $2',

  delete_keys: `DELETE FROM users_idempotency WHERE key IN
    (SELECT key FROM users_idempotency WHERE created_at <= $1 ORDER BY created_at LIMIT 1000)`,

  /** The new e-mail need not be unique, so the user no longer claims it. */
  update: `${UPDATE} claims_email = claims_email
      AND coalesce(${foldedEmail('$3')} = email_folded, true)
    WHERE ${IS_CURRENT} RETURNING ${COLUMNS}`,

  /** PostgreSQL evaluates the condition again, with the row locked, after a concurrent change. */
  update_unique: `${UPDATE} claims_email = claims_email OR $3 IS NOT NULL
    WHERE ${IS_CURRENT} AND NOT EXISTS (
      SELECT FROM users AS other WHERE other.email_folded = ${foldedEmail('$3')} AND other.id <> $1
    )
    RETURNING ${COLUMNS}`,

  delete: `DELETE FROM users WHERE id = $1 AND version = coalesce($2::int, version)
    RETURNING ${COLUMNS}`,

  /** Returns what may prevent a change: the current version, and whether another user has the e-mail. */
  explain: `SELECT version, EXISTS (
      SELECT FROM users AS other WHERE other.email_folded = ${foldedEmail('$2')} AND other.id <> $1
    ) AS is_taken
    FROM users WHERE id = $1`,

  /** Reads all figures from one snapshot; a day is a number of days since 1970. */
  figures: `WITH counted AS MATERIALIZED (
      SELECT kind, name, sum(users) AS count FROM users_counts
      GROUP BY kind, name HAVING sum(users) > 0
    ), days AS MATERIALIZED (
      SELECT name::int AS day, count FROM counted WHERE kind = 'day'
    )
    SELECT 'total' AS kind, NULL AS name, coalesce(sum(count), 0) AS count FROM days
    UNION ALL
    SELECT 'day', day::text, count FROM days WHERE day BETWEEN $1 AND $2
    UNION ALL
    (SELECT kind, name, count FROM counted WHERE kind = 'domain'
      ORDER BY count DESC, name LIMIT $3)`,
};

/** Time between two deletions of expired idempotency keys. */
const DELETE_KEYS_EVERY_MS = 60_000;

interface Insertion {
  readonly user: User;
  readonly idempotency?: Idempotency | undefined;
}

/** Opens a store of users in PostgreSQL, which several processes may share. */
export function openPostgresUserStore(
  options: Omit<PostgresOptions, 'name' | 'migrations'>,
): UserStore {
  const database = openPostgres({ ...options, name: 'users', migrations: USERS_MIGRATIONS });
  const query = (name: keyof typeof SQL, values: readonly unknown[] = []) =>
    database.query({ name: `users_${name}`, text: SQL[name] }, values);
  let keysDeletedMs = Number.NEGATIVE_INFINITY;

  const find = createBatch(async (ids: readonly string[]) => {
    const rows = await query('find', [ids]);
    const users = new Map(rows.map((row) => [String(row.id), toUser(row)]));
    return ids.map((id) => users.get(id));
  });

  const insert = createBatch(async (users: readonly User[]) => {
    await query('insert', toArrays(users));
    return users;
  });

  const insertUnique = createBatch(async (insertions: readonly Insertion[]): Promise<Outcome[]> => {
    const values = [
      ...toArrays(insertions.map(({ user }) => user)),
      insertions.map(({ idempotency }) => idempotency?.key ?? null),
      insertions.map(({ idempotency }) => idempotency?.fingerprint ?? null),
      insertions.map(({ user, idempotency }) => (idempotency ? toReplay(user) : null)),
    ];
    let isKeyStored = false;
    const rows = await query('insert_unique', values).catch((error) => {
      isKeyStored = insertions.length === 1 && isTaken(error, 'users_idempotency_pkey');
      if (!isKeyStored) throw error;
      return [];
    });
    const created = new Set(rows.map(({ id }) => id));
    return Promise.all(
      insertions.map((insertion) =>
        created.has(insertion.user.id) ? insertion.user : settleInsert(insertion, isKeyStored),
      ),
    );
  });

  /** Returns why a user was not created; creates it if `isKeyStored`, but the key has expired. */
  async function settleInsert(insertion: Insertion, isKeyStored: boolean): Promise<Outcome> {
    const { user, idempotency } = insertion;
    if (!idempotency) return 'email-taken';
    const values = [idempotency.key, expiryAt(user.createdAt)];
    const [known] = await query('recall', values);
    if (known) return replay(known, idempotency);
    if (!isKeyStored) return 'email-taken';
    await query('delete_key', values);
    return insertUnique(insertion);
  }

  /** Deletes expired keys in the background: the caller does not wait. */
  function deleteExpiredKeys(now: Date): void {
    if (now.getTime() - keysDeletedMs < DELETE_KEYS_EVERY_MS) return;
    keysDeletedMs = now.getTime();
    query('delete_keys', [expiryAt(now)]).catch(() => {});
  }

  /** Returns why a change was rejected; `undefined` if a concurrent change has removed the reason. */
  async function explainChange(
    id: string,
    ifVersion: number | undefined,
    uniqueEmail?: string,
  ): Promise<Outcome | undefined> {
    const [present] = await query('explain', [id, uniqueEmail ?? null]);
    if (!present) return 'missing';
    if (isStale(present, ifVersion)) return 'stale';
    return present.is_taken ? 'email-taken' : undefined;
  }

  return {
    async list({ start, limit } = { start: 0, limit: Number.MAX_SAFE_INTEGER }) {
      const rows = await query('list', [Math.min(limit, MAX_BATCH_USERS + 1), start]);
      const users = rows.filter(({ id }) => id !== null);
      return { ...(await readBatch(users, find)), total: Number(rows[0]?.total) };
    },

    async page({ after = 0, limit, email }) {
      const position = Math.max(0, Math.min(Math.floor(after), Number.MAX_SAFE_INTEGER));
      const most = Math.min(limit, MAX_BATCH_USERS);
      const rows =
        email === undefined
          ? await query('page', [position, most + 1])
          : await query('page_of_email', [position, most + 1, email]);
      return readBatch(rows, find, most);
    },

    find,

    async figures({ domains, ...options }) {
      const days = daysOf(options);
      return toFigures(await query('figures', [days.first, days.last, domains]), days);
    },

    insert(user, options) {
      if (!options?.uniqueEmail) return insert(user);
      const { idempotency } = options;
      if (idempotency) deleteExpiredKeys(user.createdAt);
      return insertUnique({ user, idempotency });
    },

    async update(id, { name, email }, { updatedAt, uniqueEmail, ifVersion }) {
      const values = [id, name ?? null, email ?? null, updatedAt, ifVersion ?? null];
      const statement = uniqueEmail ? 'update_unique' : 'update';
      for (;;) {
        const [row] = await query(statement, values).catch(ignoreEmailTaken);
        const outcome = row
          ? toUser(row)
          : await explainChange(id, ifVersion, uniqueEmail ? email : undefined);
        if (outcome) return outcome;
      }
    },

    async delete(id, ifVersion) {
      for (;;) {
        const [row] = await query('delete', [id, ifVersion ?? null]);
        const outcome = row ? toUser(row) : await explainChange(id, ifVersion);
        if (outcome) return outcome;
      }
    },

    migrate: () => database.migrate(),

    async check() {
      await database.check();
      await query('check');
    },

    close: () => database.close(),
  };
}

/** The fields of users in the order of `ROWS`, an array of each, for `unnest`. */
function toArrays(users: readonly User[]): unknown[] {
  const fields = ['id', 'name', 'email', 'createdAt', 'updatedAt', 'version'] as const;
  return fields.map((field) => users.map((user) => user[field]));
}

/** The unique index rejects an e-mail that a concurrent change has claimed: then no row was changed. */
function ignoreEmailTaken(error: unknown): readonly Row[] {
  if (!isTaken(error, 'users_claimed_email')) throw error;
  return [];
}
