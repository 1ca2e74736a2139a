import {
  createBatch,
  isTaken,
  openPostgres,
  type PostgresOptions,
  type Statement,
} from '@fw/service/postgres';

import type {
  DeleteOutcome,
  Idempotency,
  InsertOutcome,
  UpdateOutcome,
  UserStore,
} from '../store.ts';
import type { User, UserChanges } from '../user.ts';
import { foldedEmail, USERS_MIGRATIONS } from './postgres-migrations.ts';
import {
  BATCH_COLUMNS,
  COLUMNS,
  daysOf,
  fromReplay,
  isStale,
  MAX_BATCH_USERS,
  REMEMBERED_MS,
  readBatch,
  toFigures,
  toReplay,
  toUser,
} from './rows.ts';

const ROWS =
  'unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int[]';

const CHECK = statement('check', 'SELECT 1 FROM users LIMIT 1');

const LIST = statement(
  'list',
  `SELECT total, slice.*
   FROM (SELECT coalesce(sum(users), 0) AS total FROM users_counts WHERE kind = 'day') AS counted
   LEFT JOIN (SELECT ${BATCH_COLUMNS} FROM users ORDER BY position LIMIT $1 OFFSET $2) AS slice
     ON true
   ORDER BY position`,
);

const PAGE = statement(
  'page',
  `SELECT ${BATCH_COLUMNS} FROM users WHERE position > $1 ORDER BY position LIMIT $2`,
);

const PAGE_OF_EMAIL = statement(
  'page_of_email',
  `SELECT ${BATCH_COLUMNS} FROM users WHERE email_folded = ${foldedEmail('$3')} AND position > $1
   ORDER BY email_folded, position LIMIT $2`,
);

const FIND = statement('find', `SELECT ${COLUMNS} FROM users WHERE id = ANY ($1::text[])`);

const INSERT = statement(
  'insert',
  `INSERT INTO users (id, name, email, created_at, updated_at, version)
   SELECT id, name, email, created_at, updated_at, version
   FROM ${ROWS}) WITH ORDINALITY AS new (id, name, email, created_at, updated_at, version, at)
   ORDER BY at`,
);

/** Returns the ids of the created users: those whose e-mail address was free. Fails if a key is known. */
const INSERT_UNIQUE = statement(
  'insert_unique',
  `WITH new AS MATERIALIZED (
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
);

const RECALL = statement(
  'recall',
  'SELECT fingerprint, "user" FROM users_idempotency WHERE key = $1 AND created_at > $2',
);

const DELETE_KEY = statement(
  'delete_key',
  'DELETE FROM users_idempotency WHERE key = $1 AND created_at <= $2 RETURNING key',
);

const DELETE_KEYS = statement(
  'delete_keys',
  `DELETE FROM users_idempotency WHERE key IN
     (SELECT key FROM users_idempotency WHERE created_at <= $1 ORDER BY created_at LIMIT 1000)`,
);

/** The new e-mail address need not be unique, so the user no longer claims it. */
const UPDATE = statement(
  'update',
  `UPDATE users SET name = coalesce($2, name), email = coalesce($3, email), updated_at = $4,
     version = version + 1,
     claims_email = claims_email
       AND coalesce(${foldedEmail('$3')} = email_folded, true)
   WHERE id = $1 RETURNING ${COLUMNS}`,
);

/** PostgreSQL evaluates the condition again, with the row locked, after a concurrent change. */
const UPDATE_UNIQUE = statement(
  'update_unique',
  `UPDATE users SET name = coalesce($2, name), email = coalesce($3, email), updated_at = $4,
     version = version + 1,
     claims_email = claims_email OR $3 IS NOT NULL
   WHERE id = $1 AND version = coalesce($5::int, version) AND NOT EXISTS (
     SELECT FROM users AS other WHERE other.email_folded = ${foldedEmail('$3')} AND other.id <> $1
   )
   RETURNING ${COLUMNS}`,
);

/** Returns why a change was rejected: the current version, and whether another user has the e-mail. */
const EXPLAIN = statement(
  'explain',
  `SELECT version, EXISTS (
     SELECT FROM users AS other WHERE other.email_folded = ${foldedEmail('$2')} AND other.id <> $1
   ) AS is_taken
   FROM users WHERE id = $1`,
);

const DELETE = statement(
  'delete',
  'DELETE FROM users WHERE id = $1 AND version = coalesce($2::int, version) RETURNING id',
);

/** Reads all figures from one snapshot; a day is a number of days since 1970. */
const FIGURES = statement(
  'figures',
  `WITH counted AS MATERIALIZED (
     SELECT kind, name, sum(users) AS count FROM users_counts
     GROUP BY kind, name HAVING sum(users) > 0
   ), days AS MATERIALIZED (
     SELECT name::int AS day, count FROM counted WHERE kind = 'day'
   )
   SELECT 'total' AS kind, NULL AS name, coalesce(sum(count), 0) AS count FROM days
   UNION ALL
   SELECT 'day', day::text, count FROM days WHERE day >= $1 AND day < $2
   UNION ALL
   (SELECT kind, name, count FROM counted WHERE kind = 'domain'
     ORDER BY count DESC, name LIMIT $3)`,
);

/** Options of `openPostgres`; the store knows its name and migrations. */
export type PostgresUserStoreOptions = Omit<PostgresOptions, 'name' | 'migrations'>;

/** Time between two deletions of expired idempotency keys. */
const DELETE_KEYS_EVERY_MS = 60_000;

interface NewUser {
  readonly user: User;
  readonly idempotency?: Idempotency | undefined;
}

/** Opens a store of users in PostgreSQL, which several processes may share. */
export function openPostgresUserStore(options: PostgresUserStoreOptions): UserStore {
  const database = openPostgres({ ...options, name: 'users', migrations: USERS_MIGRATIONS });
  const { query } = database;
  let keysDeletedMs = Number.NEGATIVE_INFINITY;

  const find = createBatch(async (ids: readonly string[]) => {
    const rows = await query(FIND, [ids]);
    const users = new Map(rows.map((row) => [String(row.id), toUser(row)]));
    return ids.map((id) => users.get(id));
  });

  const insert = createBatch(async (users: readonly User[]) => {
    await query(INSERT, toColumns(users));
    return users.map(() => undefined);
  });

  const insertUnique = createBatch(async (rows: readonly NewUser[]): Promise<InsertOutcome[]> => {
    const created = await createRows(rows);
    return Promise.all(
      rows.map(async (row) =>
        created.has(row.user.id) ? { outcome: 'created', user: row.user } : explainConflict(row),
      ),
    );
  });

  /** Resolves with the ids of the users that were created. */
  async function createRows(rows: readonly NewUser[]): Promise<ReadonlySet<string>> {
    const keys = rows.map(({ idempotency }) => idempotency?.key ?? null);
    const fingerprints = rows.map(({ idempotency }) => idempotency?.fingerprint ?? null);
    const replays = rows.map(({ user, idempotency }) => (idempotency ? toReplay(user) : null));
    try {
      const created = await query(INSERT_UNIQUE, [
        ...toColumns(rows.map(({ user }) => user)),
        ...[keys, fingerprints, replays],
      ]);
      return new Set(created.map(({ id }) => String(id)));
    } catch (error) {
      if (rows.length > 1 || !isTaken(error, 'users_idempotency_pkey')) throw error;
      return new Set();
    }
  }

  async function explainConflict({ user, idempotency }: NewUser): Promise<InsertOutcome> {
    if (!idempotency) return { outcome: 'email-taken' };
    const { key, fingerprint } = idempotency;
    const expiredAt = new Date(user.createdAt.getTime() - REMEMBERED_MS);
    const [known] = await query(RECALL, [key, expiredAt]);
    if (known?.fingerprint === fingerprint) {
      return { outcome: 'replayed', user: fromReplay(String(known.user)) };
    }
    if (known) return { outcome: 'key-reused' };
    const [expired] = await query(DELETE_KEY, [key, expiredAt]);
    return expired ? insertUnique({ user, idempotency }) : { outcome: 'email-taken' };
  }

  /** Deletes expired keys in the background: the caller does not wait. */
  function deleteExpiredKeys(now: Date): void {
    if (now.getTime() - keysDeletedMs < DELETE_KEYS_EVERY_MS) return;
    keysDeletedMs = now.getTime();
    query(DELETE_KEYS, [new Date(keysDeletedMs - REMEMBERED_MS)]).catch(() => {});
  }

  return {
    async list({ start, limit } = { start: 0, limit: Number.MAX_SAFE_INTEGER }) {
      const rows = await query(LIST, [Math.min(limit, MAX_BATCH_USERS + 1), start]);
      const users = rows.filter(({ id }) => id !== null);
      return { ...(await readBatch(users, find)), total: Number(rows[0]?.total) };
    },

    async page({ after = 0, limit, email }) {
      const position = Math.max(0, Math.min(Math.floor(after), Number.MAX_SAFE_INTEGER));
      const most = Math.min(limit, MAX_BATCH_USERS);
      const rows =
        email === undefined
          ? await query(PAGE, [position, most + 1])
          : await query(PAGE_OF_EMAIL, [position, most + 1, email]);
      return readBatch(rows, find, most);
    },

    find,

    async figures(options) {
      const { first, end } = daysOf(options);
      return toFigures(await query(FIGURES, [first, end, options.domains]), options);
    },

    insert,

    insertUnique(user, idempotency) {
      if (idempotency) deleteExpiredKeys(user.createdAt);
      return insertUnique({ user, idempotency });
    },

    async update(id, changes, updatedAt) {
      const [row] = await query(UPDATE, toChange(id, changes, updatedAt));
      return row && toUser(row);
    },

    async updateUnique(id, changes, updatedAt, ifVersion): Promise<UpdateOutcome> {
      const values = [...toChange(id, changes, updatedAt), ifVersion ?? null];
      for (;;) {
        const row = await query(UPDATE_UNIQUE, values).then(
          ([updated]) => updated,
          ignoreEmailTaken,
        );
        if (row) return { outcome: 'updated', user: toUser(row) };
        const [present] = await query(EXPLAIN, [id, changes.email ?? null]);
        if (!present) return { outcome: 'missing' };
        if (isStale(present, ifVersion)) return { outcome: 'stale' };
        if (present.is_taken) return { outcome: 'email-taken' };
      }
    },

    async delete(id, ifVersion): Promise<DeleteOutcome> {
      for (;;) {
        const [deleted] = await query(DELETE, [id, ifVersion ?? null]);
        if (deleted) return 'deleted';
        const [present] = await query(EXPLAIN, [id, null]);
        if (!present) return 'missing';
        if (isStale(present, ifVersion)) return 'stale';
      }
    },

    migrate: () => database.migrate(),

    async check() {
      await database.check();
      await query(CHECK);
    },

    close: () => database.close(),
  };
}

/** One array per column, for `unnest`. */
function toColumns(users: readonly User[]): unknown[] {
  return [
    users.map(({ id }) => id),
    users.map(({ name }) => name),
    users.map(({ email }) => email),
    users.map(({ createdAt }) => createdAt),
    users.map(({ updatedAt }) => updatedAt),
    users.map(({ version }) => version),
  ];
}

function toChange(id: string, { name, email }: UserChanges, updatedAt: Date): unknown[] {
  return [id, name ?? null, email ?? null, updatedAt];
}

function ignoreEmailTaken(error: unknown): undefined {
  if (!isTaken(error, 'users_claimed_email')) throw error;
}

function statement(name: string, text: string): Statement {
  return { name: `users_${name}`, text };
}
