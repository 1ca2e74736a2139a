/**
 * The SQL of an e-mail by which it is told from others: A to Z and nothing else folded, as lower() of
 * collation "C" does. Of a long text, which no index takes, the beginning and a hash.
 */
export function foldedEmail(email: string): string {
  const folded = `lower(${email} COLLATE "C")`;
  const hash = `hashtextextended(${folded}, 0)::text`;
  return `CASE WHEN octet_length(${email}) > 1000 THEN left(${folded}, 200) || ' ' || ${hash}
     ELSE ${folded} END`;
}

/** The tables of the users in PostgreSQL, step by step. */
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

   -- Looking whether an e-mail is free cannot see what others insert at the same time; of those who
   -- insist on having it alone, this lets one through. Who does not insist claims nothing.
   CREATE UNIQUE INDEX users_claimed_email ON users (email_folded) WHERE claims_email;

   CREATE TABLE users_idempotency (
     key         text COLLATE "C" PRIMARY KEY,
     fingerprint text NOT NULL,
     "user"      text NOT NULL, -- as created
     created_at  timestamptz NOT NULL
   );
   CREATE INDEX users_idempotency_by_age ON users_idempotency (created_at)`,
];
