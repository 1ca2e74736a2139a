/**
 * SQL that compares e-mails regardless of the case of A to Z, as lower() of collation "C" does. An e-mail of
 * more than 1,000 bytes is compared by its beginning and a hash: version 1 stores up to 254 characters of
 * any kind, which are 1,016 bytes in UTF-8.
 */
export function foldedEmail(email: string): string {
  const folded = `lower(${email} COLLATE "C")`;
  const hash = `hashtextextended(${folded}, 0)::text`;
  return `CASE WHEN octet_length(${email}) > 1000 THEN left(${folded}, 200) || ' ' || ${hash}
     ELSE ${folded} END`;
}

const ONE_MORE = 'SELECT created_at, email, 1 AS change FROM created';
const ONE_LESS = 'SELECT created_at, email, -1 AS change FROM gone';

function countAfter(
  event: 'INSERT' | 'UPDATE' | 'DELETE',
  tables: string,
  changes: string,
): string {
  const name = `users_count_${event.toLowerCase()}`;
  return `CREATE ${triggerFunction(name, addToCounts(changes))}
   CREATE TRIGGER ${name} AFTER ${event} ON users REFERENCING ${tables}
     FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`;
}

function triggerFunction(name: string, ...statements: readonly string[]): string {
  return `FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       ${statements.join(';\n       ')};
       RETURN NULL;
     END
   $$;`;
}

/** Always in the same order, so that two transactions cannot deadlock. */
function addToCounts(changes: string): string {
  return `INSERT INTO users_counts (kind, name, part, users)
       SELECT kind, name, pg_backend_pid() % 16, sum(change)
       FROM (${changes}) AS changed, LATERAL (VALUES
         ('day', floor(extract(epoch FROM created_at) / 86400)::text),
         ('domain', users_domain(email))
       ) AS counted (kind, name)
       WHERE name IS NOT NULL
       GROUP BY kind, name HAVING sum(change) <> 0 ORDER BY kind, name
       ON CONFLICT (kind, name, part) DO UPDATE SET users = users_counts.users + excluded.users`;
}

/** After the counts, and always in the same order, for the same reason. */
function addToRanges(changes: string): string {
  return `INSERT INTO users_ranges (bits, first, part, users)
       SELECT bits, position >> bits << bits, pg_backend_pid() % 16, sum(change)
       FROM (${changes}) AS changed, (VALUES (10), (16)) AS widths (bits)
       GROUP BY 1, 2 ORDER BY 1, 2
       ON CONFLICT (bits, first, part) DO UPDATE SET users = users_ranges.users + excluded.users`;
}

function countWithRanges(event: 'INSERT' | 'DELETE', changes: string, changed: string): string {
  const name = `users_count_${event.toLowerCase()}`;
  const statements = [addToCounts(changes), addToRanges(changed)];
  return `CREATE OR REPLACE ${triggerFunction(name, ...statements)}`;
}

/**
 * The tables of the users in PostgreSQL: SQL from each version to the next. Databases that have applied a migration
 * reject another text of it.
 */
export const USERS_MIGRATIONS: readonly string[] = [
  `CREATE TABLE users (
     position      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id            text COLLATE "C" NOT NULL UNIQUE,
     name          text NOT NULL,
     email         text NOT NULL,
     email_folded  text COLLATE "C" NOT NULL GENERATED ALWAYS AS (${foldedEmail('email')}) STORED,
     claims_email  boolean NOT NULL DEFAULT false,
     created_at    timestamptz NOT NULL,
     updated_at    timestamptz NOT NULL,
     version       integer NOT NULL DEFAULT 1
   );
   CREATE INDEX users_by_email ON users (email_folded, position);

   -- A check whether an e-mail is free does not see concurrent inserts. Of the users that claim the
   -- e-mail (version 2 of the API), this index admits one. Users of version 1 claim nothing.
   CREATE UNIQUE INDEX users_claimed_email ON users (email_folded) WHERE claims_email;

   CREATE TABLE users_idempotency (
     key         text COLLATE "C" PRIMARY KEY,
     fingerprint text NOT NULL,
     "user"      text NOT NULL, -- as created
     created_at  timestamptz NOT NULL
   );
   CREATE INDEX users_idempotency_by_age ON users_idempotency (created_at)`,

  // Counting a million users takes seconds, so triggers keep the counts. Each count has 16 parts; a
  // connection adds to one of them, so that concurrent transactions seldom wait for each other.
  `CREATE TABLE users_counts (
     kind  text COLLATE "C" NOT NULL, -- 'day', since 1970, or 'domain'
     name  text COLLATE "C" NOT NULL,
     part  integer NOT NULL,
     users bigint NOT NULL,
     PRIMARY KEY (kind, name, part)
   ) WITH (fillfactor = 50);

   CREATE FUNCTION users_domain(email text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
     SELECT CASE WHEN email LIKE '%@%' AND octet_length(email) <= 1000
       THEN nullif(split_part(lower(email COLLATE "C"), '@', -1), '') END
   $$;

   LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE;
   ${countAfter('INSERT', 'NEW TABLE AS created', ONE_MORE)}
   ${countAfter('DELETE', 'OLD TABLE AS gone', ONE_LESS)}
   ${countAfter('UPDATE', 'NEW TABLE AS created OLD TABLE AS gone', `${ONE_MORE} UNION ALL ${ONE_LESS}`)}
   ${addToCounts('SELECT created_at, email, 1 AS change FROM users')}`,

  // Each row is the number of users in a range of 2^bits positions that begins at `first`: a page by number finds its
  // first user with them.
  `CREATE TABLE users_ranges (
     bits  integer NOT NULL,
     first bigint NOT NULL,
     part  integer NOT NULL,
     users bigint NOT NULL,
     PRIMARY KEY (bits, first, part)
   ) WITH (fillfactor = 50);

   LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE;
   ${countWithRanges('INSERT', ONE_MORE, 'SELECT position, 1 AS change FROM created')}
   ${countWithRanges('DELETE', ONE_LESS, 'SELECT position, -1 AS change FROM gone')}
   ${addToRanges('SELECT position, 1 AS change FROM users')}`,
];
