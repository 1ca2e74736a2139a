import type { DatabaseFormat } from '@fw/service/sqlite';

/** The tables of the users in SQLite: SQL from each format to the next. */
export const USERS_FORMAT: DatabaseFormat = {
  applicationId: 0x66777573, // "fwus"
  migrations: [
    `CREATE TABLE users (
       position   INTEGER PRIMARY KEY AUTOINCREMENT,
       id         TEXT NOT NULL UNIQUE,
       name       TEXT NOT NULL,
       email      TEXT NOT NULL,
       created_at INTEGER NOT NULL, -- milliseconds since 1970
       updated_at INTEGER NOT NULL
     ) STRICT`,

    // Triggers, because programs that were written for format 1 may change users at the same time.
    // lower() folds only A to Z; rtrim() returns the text up to the last @.
    `ALTER TABLE users ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
     CREATE TRIGGER changes_are_counted AFTER UPDATE ON users WHEN NEW.version = OLD.version
     BEGIN
       UPDATE users SET version = OLD.version + 1 WHERE position = NEW.position;
     END;

     ALTER TABLE users ADD COLUMN email_folded TEXT AS (lower(email)) VIRTUAL;
     CREATE INDEX users_by_email ON users (email_folded);

     CREATE TABLE idempotency (
       key         TEXT PRIMARY KEY,
       fingerprint TEXT NOT NULL,
       "user"      TEXT NOT NULL, -- as created
       created_at  INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX idempotency_by_age ON idempotency (created_at);

     ALTER TABLE users ADD COLUMN email_domain TEXT AS (
       CASE WHEN octet_length(email) <= 1000 THEN nullif(nullif(substr(
         email_folded, 1 + length(rtrim(email_folded, replace(email_folded, '@', '')))
       ), email_folded), '') END
     ) VIRTUAL;
     CREATE TABLE domains (domain TEXT PRIMARY KEY, users INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     CREATE TABLE days (day INTEGER PRIMARY KEY, users INTEGER NOT NULL) STRICT; -- since 1970
     INSERT INTO domains SELECT email_domain, count(*) FROM users
       WHERE email_domain IS NOT NULL GROUP BY email_domain;
     INSERT INTO days SELECT created_at / 86400000, count(*) FROM users GROUP BY 1;
     CREATE TRIGGER created_are_counted AFTER INSERT ON users
     BEGIN
       INSERT INTO days VALUES (NEW.created_at / 86400000, 1)
         ON CONFLICT DO UPDATE SET users = users + 1;
       INSERT INTO domains SELECT NEW.email_domain, 1 WHERE NEW.email_domain IS NOT NULL
         ON CONFLICT DO UPDATE SET users = users + 1;
     END;
     CREATE TRIGGER moved_are_counted AFTER UPDATE OF email ON users
       WHEN NEW.email_domain IS NOT OLD.email_domain
     BEGIN
       UPDATE domains SET users = users - 1 WHERE domain = OLD.email_domain;
       INSERT INTO domains SELECT NEW.email_domain, 1 WHERE NEW.email_domain IS NOT NULL
         ON CONFLICT DO UPDATE SET users = users + 1;
       DELETE FROM domains WHERE domain = OLD.email_domain AND users = 0;
     END;
     CREATE TRIGGER deleted_are_counted AFTER DELETE ON users
     BEGIN
       UPDATE days SET users = users - 1 WHERE day = OLD.created_at / 86400000;
       UPDATE domains SET users = users - 1 WHERE domain = OLD.email_domain;
       DELETE FROM domains WHERE domain = OLD.email_domain AND users = 0;
     END`,

    // A page by number finds its first user from the users in ranges of 2^bits positions that begin at `first`.
    `CREATE TABLE ranges (
       bits INTEGER, first INTEGER, users INTEGER NOT NULL, PRIMARY KEY (bits, first)
     ) STRICT, WITHOUT ROWID;
     INSERT INTO ranges SELECT 10, position >> 10 << 10, count(*) FROM users GROUP BY 2;
     INSERT INTO ranges SELECT 16, first >> 16 << 16, sum(users) FROM ranges GROUP BY 2;
     CREATE TRIGGER created_are_in_ranges AFTER INSERT ON users
     BEGIN
       INSERT INTO ranges
         VALUES (10, NEW.position >> 10 << 10, 1), (16, NEW.position >> 16 << 16, 1)
         ON CONFLICT DO UPDATE SET users = users + 1;
     END;
     CREATE TRIGGER deleted_are_in_no_range AFTER DELETE ON users
     BEGIN
       UPDATE ranges SET users = users - 1 WHERE bits = 10 AND first = OLD.position >> 10 << 10;
       UPDATE ranges SET users = users - 1 WHERE bits = 16 AND first = OLD.position >> 16 << 16;
     END`,
  ],
};
