import type { Statement } from '@fw/service/postgres';

import { BATCH_COLUMNS } from './batch.ts';
import { foldedEmail } from './postgres-migrations.ts';

const COLUMNS = 'position, id, name, email, created_at, updated_at, version';

const ROWS =
  'unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int[]';

export const CHECK = statement('check', 'SELECT 1 FROM users LIMIT 1');

export const LIST = statement(
  'list',
  `SELECT total, slice.*
   FROM (SELECT coalesce(sum(users), 0) AS total FROM users_counts WHERE kind = 'day') AS counted
   LEFT JOIN (SELECT ${BATCH_COLUMNS} FROM users ORDER BY position LIMIT $1 OFFSET $2) AS slice
     ON true
   ORDER BY position`,
);

export const PAGE = statement(
  'page',
  `SELECT ${BATCH_COLUMNS} FROM users WHERE position > $1 ORDER BY position LIMIT $2`,
);

export const PAGE_OF_EMAIL = statement(
  'page_of_email',
  `SELECT ${BATCH_COLUMNS} FROM users WHERE email_folded = ${foldedEmail('$3')} AND position > $1
   ORDER BY email_folded, position LIMIT $2`,
);

export const FIND = statement('find', `SELECT ${COLUMNS} FROM users WHERE id = ANY ($1::text[])`);

export const INSERT = statement(
  'insert',
  `INSERT INTO users (id, name, email, created_at, updated_at, version)
   SELECT id, name, email, created_at, updated_at, version
   FROM ${ROWS}) WITH ORDINALITY AS new (id, name, email, created_at, updated_at, version, at)
   ORDER BY at`,
);

/** Returns the ids of the created users: those whose e-mail address was free. Fails if a key is known. */
export const INSERT_UNIQUE = statement(
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

export const RECALL = statement(
  'recall',
  'SELECT fingerprint, "user" FROM users_idempotency WHERE key = $1 AND created_at > $2',
);

export const DELETE_KEY = statement(
  'delete_key',
  'DELETE FROM users_idempotency WHERE key = $1 AND created_at <= $2 RETURNING key',
);

export const DELETE_KEYS = statement(
  'delete_keys',
  `DELETE FROM users_idempotency WHERE key IN
     (SELECT key FROM users_idempotency WHERE created_at <= $1 ORDER BY created_at LIMIT 1000)`,
);

/** The new e-mail address need not be unique, so the user no longer claims it. */
export const UPDATE = statement(
  'update',
  `UPDATE users SET name = coalesce($2, name), email = coalesce($3, email), updated_at = $4,
     version = version + 1,
     claims_email = claims_email
       AND coalesce(${foldedEmail('$3')} = email_folded, true)
   WHERE id = $1 RETURNING ${COLUMNS}`,
);

/** PostgreSQL evaluates the condition again, with the row locked, after a concurrent change. */
export const UPDATE_UNIQUE = statement(
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
export const EXPLAIN = statement(
  'explain',
  `SELECT version, EXISTS (
     SELECT FROM users AS other WHERE other.email_folded = ${foldedEmail('$2')} AND other.id <> $1
   ) AS is_taken
   FROM users WHERE id = $1`,
);

export const DELETE = statement(
  'delete',
  'DELETE FROM users WHERE id = $1 AND version = coalesce($2::int, version) RETURNING id',
);

/** Reads all statistics from one snapshot; a day is a number of days since 1970. */
export const FIGURES = statement(
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

function statement(name: string, text: string): Statement {
  return { name: `users_${name}`, text };
}
