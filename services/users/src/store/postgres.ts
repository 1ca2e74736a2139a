import {
  createBatch,
  isTaken,
  openPostgres,
  type PendingResponse,
  type PostgresOptions,
  postgresIdempotency,
  postgresIdempotencyInsert,
  postgresIdempotencyValues,
  type Query,
  type Row,
} from '@fw/service/postgres';

import type { InsertOptions, UserStore } from '../store.ts';
import type { Outcome, User } from '../user.ts';
import { foldedEmail, USERS_MIGRATIONS } from './postgres-migrations.ts';
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

/** The table of the idempotency keys. */
const KEYS = { table: 'users_idempotency', column: 'user' };

/** The new users; the caller adds the closing parenthesis. */
const ROWS =
  'unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int[]';

const FOLDED = foldedEmail('new.email');
const IS_FREE = `NOT EXISTS (SELECT FROM users WHERE email_folded = ${FOLDED})`;

const UPDATE = `UPDATE users SET name = coalesce($2, name), email = coalesce($3, email),
      updated_at = $4, version = version + 1,`;

const IS_CURRENT = 'id = $1 AND version = coalesce($5::int, version)';

/** Returns the selected users, each with the number of all users. */
function listOf(selection: string): string {
  return `SELECT total, slice.*
    FROM (SELECT coalesce(sum(users), 0) AS total FROM users_counts WHERE kind = 'day') AS counted
    LEFT JOIN (SELECT ${COLUMNS} ${selection}) AS slice ON true
    ORDER BY position`;
}

/** The statements by name: the server prepares each of them once per connection. */
const SQL = {
  check: 'SELECT 1 FROM users LIMIT 1',

  list: listOf('FROM users ORDER BY position LIMIT $1 OFFSET $2'),

  /**
   * As `list`, for large offsets, which read all users before the first. `before` is the number of users before a
   * range; the widths of the ranges are those of the migration.
   */
  list_of_range: `WITH wide AS (
      SELECT first, before FROM (
        SELECT first, sum(sum(users)) OVER (ORDER BY first) - sum(users) AS before
        FROM users_ranges WHERE bits = 16 GROUP BY first
      ) AS ranges WHERE before <= $2::bigint ORDER BY first DESC LIMIT 1
    ), narrow AS (
      SELECT first, before FROM (
        SELECT counted.first,
          wide.before + sum(sum(counted.users)) OVER (ORDER BY counted.first) - sum(counted.users) AS before
        FROM wide JOIN users_ranges AS counted
          ON counted.bits = 10 AND counted.first >= wide.first AND counted.first < wide.first + (1 << 16)
        GROUP BY counted.first, wide.before
      ) AS ranges WHERE before <= $2::bigint ORDER BY first DESC LIMIT 1
    )
    ${listOf(`FROM users WHERE position >= (SELECT first FROM narrow) ORDER BY position
      LIMIT $1 OFFSET $2::bigint - (SELECT before FROM narrow)::bigint`)}`,

  page: `SELECT ${COLUMNS} FROM users WHERE position > $1 ORDER BY position LIMIT $2`,

  page_of_email: `SELECT ${COLUMNS} FROM users
    WHERE email_folded = ${foldedEmail('$3')} AND position > $1
    ORDER BY email_folded, position LIMIT $2`,

  find: `SELECT ${COLUMNS} FROM users WHERE id = ANY ($1::text[])`,

  insert: `INSERT INTO users (id, name, email, created_at, updated_at, version)
    SELECT id, name, email, created_at, updated_at, version
    FROM ${ROWS}) WITH ORDINALITY AS new (id, name, email, created_at, updated_at, version, at)
    ORDER BY at`,

  /** Returns the ids of the created users: those whose e-mail was free. */
  insert_unique: `INSERT INTO users (id, name, email, created_at, updated_at, version, claims_email)
    SELECT id, name, email, created_at, updated_at, version, true
    FROM ${ROWS}) WITH ORDINALITY AS new (id, name, email, created_at, updated_at, version, at)
    WHERE ${IS_FREE}
    ORDER BY at
    ON CONFLICT (email_folded) WHERE claims_email DO NOTHING
    RETURNING id`,

  /**
   * Returns the ids of the users whose e-mail and key were free. Fails if a concurrent change has claimed
   * an e-mail, so that its key is not stored either.
   */
  insert_with_keys: `WITH new AS MATERIALIZED (
      SELECT DISTINCT ON (${FOLDED}) * FROM ${ROWS}, $7::text[], $8::text[], $9::text[], $10::timestamptz[]) WITH ORDINALITY
        AS new (id, name, email, created_at, updated_at, version,
          key, fingerprint, response, received_at, at)
      WHERE ${IS_FREE}
      ORDER BY ${FOLDED}, at
    ), stored AS (
      ${postgresIdempotencyInsert({ ...KEYS, rows: 'new', retention: '$11' })}
    )
    INSERT INTO users (id, name, email, created_at, updated_at, version, claims_email)
    SELECT id, name, email, created_at, updated_at, version, true
    FROM new WHERE key IS NULL OR key IN (SELECT key FROM stored)
    ORDER BY at
    RETURNING id`,

  /** Version 1 permits equal addresses: a user whose address changes no longer claims it (`claims_email`). */
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

interface Insertion extends Pick<InsertOptions, 'idempotency'> {
  readonly user: User;
}

/** Opens a store of users in PostgreSQL, which several processes may share. */
export function openPostgresUserStore(
  options: Omit<PostgresOptions, 'name' | 'migrations'>,
): UserStore {
  const database = openPostgres({ ...options, name: 'users', migrations: USERS_MIGRATIONS });
  const query = queryOn(database.query);

  const find = createBatch(async (ids: readonly string[]) => {
    const rows = await query('find', [ids]);
    const users = new Map(rows.map((row) => [String(row.id), toUser(row)]));
    return ids.map((id) => users.get(id));
  });

  const insert = createBatch(async (users: readonly User[]) => {
    await query('insert', toArrays(users));
    return users;
  });

  /**
   * Returns the outcome of each insertion; `undefined` if it must be tried alone: the statement tries one of the users
   * with an e-mail, whose key may be in use. The outcome of a key in use does not matter: `idempotency()` then sends
   * the first response, or 422.
   */
  async function insertAll(insertions: readonly Insertion[]): Promise<(Outcome | undefined)[]> {
    const users = insertions.map(({ user }) => user);
    const responses = insertions.map(toResponse);
    const hasKeys = responses.some((response) => response !== undefined);
    const inserting = hasKeys
      ? query('insert_with_keys', [...toArrays(users), ...postgresIdempotencyValues(responses)])
      : query('insert_unique', toArrays(users));
    // After a failure, each user of the batch is inserted alone.
    const rows = await (users.length > 1 ? inserting : inserting.catch(ignoreEmailTaken));
    const created = new Set(rows.map(({ id }) => id));
    const otherwise = hasKeys && users.length > 1 ? undefined : 'email-taken';
    return users.map((user) => (created.has(user.id) ? user : otherwise));
  }

  const insertTogether = createBatch(insertAll);

  async function insertUnique(insertion: Insertion): Promise<Outcome> {
    const outcome = (await insertTogether(insertion)) ?? (await insertAll([insertion]))[0];
    return outcome ?? 'email-taken';
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
    idempotency: postgresIdempotency(database, KEYS),

    readCreated: parseUser,

    async list({ start, limit } = { start: 0, limit: Number.MAX_SAFE_INTEGER }) {
      const statement = start < 2 ** 10 ? 'list' : 'list_of_range';
      const rows = await query(statement, [Math.min(limit, MAX_BATCH_USERS + 1), start]);
      const users = rows.filter(({ id }) => id !== null);
      return { ...readBatch(users), total: Number(rows[0]?.total) };
    },

    async page({ after = 0, limit, email }) {
      const position = Math.max(0, Math.min(Math.floor(after), Number.MAX_SAFE_INTEGER));
      const most = Math.min(limit, MAX_BATCH_USERS);
      const rows =
        email === undefined
          ? await query('page', [position, most + 1])
          : await query('page_of_email', [position, most + 1, email]);
      return readBatch(rows, most);
    },

    find,

    async figures({ domains, ...options }) {
      const days = daysOf(options);
      return toFigures(await query('figures', [days.first, days.last, domains]), days);
    },

    insert: (user, options) => (options ? insertUnique({ user, ...options }) : insert(user)),

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

/** Runs statements of `SQL` with `run`. */
function queryOn(run: Query) {
  return (name: keyof typeof SQL, values: readonly unknown[] = []) =>
    run({ name: `users_${name}`, text: SQL[name] }, values);
}

/** What has to be stored with the user; `undefined` without an idempotency key. */
function toResponse({ user, idempotency }: Insertion): PendingResponse | undefined {
  const responses: PendingResponse[] = [];
  idempotency?.save(responses, serializeUser(user));
  return responses[0];
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
