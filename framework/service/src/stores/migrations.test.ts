import { expect, test } from 'vitest';

import { postgresIdempotencyTable } from '../postgres/idempotency.ts';
import { sqliteIdempotencyTable } from '../sqlite/idempotency.ts';
import { checksumOf, migrationFailed } from './migrations.ts';
import { splitStatements } from './split-statements.ts';

test.each([
  ['SELECT 1; SELECT 2', ['SELECT 1', ' SELECT 2']],
  ['SELECT 1;', ['SELECT 1', '']],
  ["SELECT ';', 'it''s;'", ["SELECT ';', 'it''s;'"]],
  [
    String.raw`SELECT E'\';'; SELECT '\'; x`,
    [String.raw`SELECT E'\';'`, String.raw` SELECT '\'`, ' x'],
  ],
  ['SELECT ";" AS "a;b""c;"', ['SELECT ";" AS "a;b""c;"']],
  ['DO $$ BEGIN x; END $$; y', ['DO $$ BEGIN x; END $$', ' y']],
  ['DO $a$ x; $$; $b$ ; $a$; y', ['DO $a$ x; $$; $b$ ; $a$', ' y']],
  ['SELECT a$b; SELECT c$b', ['SELECT a$b', ' SELECT c$b']],
  ["SELECT 1 -- it's; \n; x", ["SELECT 1 -- it's; \n", ' x']],
  ["/* it's; /* nested; */ c; */ SELECT 1; x", ["/* it's; /* nested; */ c; */ SELECT 1", ' x']],
  ['CREATE RULE r AS ON x DO (a; b); y', ['CREATE RULE r AS ON x DO (a; b)', ' y']],
  [
    'CREATE FUNCTION f() RETURNS int BEGIN ATOMIC; SELECT 1; END; x',
    ['CREATE FUNCTION f() RETURNS int BEGIN ATOMIC; SELECT 1; END; x'],
  ],
])('%j has these statements', (sql, statements) => {
  expect(splitStatements(sql)).toEqual(statements);
});

test('the error of a migration contains its statement on one line, shortened, and the members of the cause', () => {
  const cause = Object.assign(new Error('no'), { code: '42P01', severity: 'ERROR' });
  const sql = `-- comment\n  CREATE\n TABLE ${'x'.repeat(500)}; DROP TABLE y`;

  const error = migrationFailed(3, sql, cause);

  expect(error).toMatchObject({ cause, code: '42P01', severity: 'ERROR' });
  expect(error.message).toBe(`migration 3 failed at "CREATE TABLE ${'x'.repeat(147)}…": no`);
});

// A change would stop every service that has applied it.
test('the tables of idempotency() are created by SQL that never changes', () => {
  expect(checksumOf(sqliteIdempotencyTable()).slice(0, 16)).toMatchInlineSnapshot(
    `"104e2c811d070df4"`,
  );
  expect(checksumOf(postgresIdempotencyTable()).slice(0, 16)).toMatchInlineSnapshot(
    `"de5f77271e316bf5"`,
  );
});
