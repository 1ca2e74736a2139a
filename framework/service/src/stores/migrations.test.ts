import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { describe, expect, test } from 'vitest';

import { connectTo, openNotes } from '../fixtures/notes.ts';
import { appliedMigrations, openDatabase } from '../sqlite/sqlite.ts';
import { newFolder, startTestPostgres } from '../testing/vitest.ts';
import { postgresIdempotencyTable, sqliteIdempotencyTable } from './idempotency.ts';
import { checksumOf, migrationFailed, splitStatements } from './migrations.ts';

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

/** A new database. */
interface TestDatabase {
  /** Migrates it as a program with these migrations; resolves with the versions that were applied. */
  migrate(migrations: readonly string[]): Promise<readonly number[]>;
  run(sql: string): Promise<unknown>;
}

const server = startTestPostgres();

async function newPostgres(): Promise<TestDatabase> {
  const url = await server().createDatabase();
  return {
    migrate: (migrations) => openNotes(url, { migrations }).migrate(),
    run: async (sql) => (await connectTo(url)).query(sql),
  };
}

async function newSqlite(): Promise<TestDatabase> {
  const file = join(newFolder(), 'notes.db');
  return {
    async migrate(migrations) {
      const database = openDatabase(file, { applicationId: 0x6e6f7465, migrations });
      database.close();
      return appliedMigrations(database);
    },
    async run(sql) {
      const database = new DatabaseSync(file);
      try {
        database.exec(sql);
      } finally {
        database.close();
      }
    },
  };
}

const NOTES = 'CREATE TABLE notes (text text NOT NULL)';
const STARS = 'ALTER TABLE notes ADD COLUMN stars int NOT NULL DEFAULT 0';
const TAGS = 'CREATE TABLE tags (name text)';
const OTHER = 'CREATE TABLE other (x int)';

describe.each([
  {
    name: 'PostgreSQL',
    create: newPostgres,
    body: 'CREATE FUNCTION second() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2 $$',
    removal: 'ALTER TABLE notes_migrations DROP COLUMN checksum',
    reasons: [
      'relation "tickts" does not exist',
      'syntax error at or near "nonsense"',
      'null value in column "text"',
    ],
  },
  {
    name: 'SQLite',
    create: newSqlite,
    body: "CREATE TRIGGER second AFTER INSERT ON first BEGIN SELECT 1; SELECT ';'; END",
    removal: 'DROP TABLE fw_migrations',
    reasons: [
      'no such table: tickts',
      'near "nonsense": syntax error',
      'NOT NULL constraint failed',
    ],
  },
])('on $name', ({ create, body, removal, reasons }) => {
  test.each([
    ['of an unknown table', 'ALTER TABLE tickts ADD COLUMN x int', reasons[0]],
    ['with a syntax error', 'CREATE nonsense', reasons[1]],
    ['that violates a constraint', 'INSERT INTO notes VALUES (NULL)', reasons[2]],
  ])(
    'a statement %s is named with its migration, and nothing is migrated',
    async (_, text, reason) => {
      const { migrate, run } = await create();
      await migrate([NOTES]);
      const migration = `-- ;
      CREATE TABLE first (x int);
      ${body};
      /* third; */ ${text.replace(' ', '\n  ')};
      CREATE TABLE last (x int);`;

      await expect(migrate([NOTES, migration])).rejects.toThrow(
        `migration 2 failed at "${text}": ${reason}`,
      );
      await expect(run('SELECT * FROM first')).rejects.toThrow('first');
    },
  );

  test.each([
    ['changed', [NOTES, OTHER, TAGS], 2],
    ['missing', [NOTES, TAGS], 2],
    ['inserted', [OTHER, NOTES, STARS, TAGS], 1],
    ['appended to an applied one', [`${NOTES}; ${OTHER}`], 1],
    ['in another order', [NOTES, TAGS, STARS], 2],
  ])('an applied migration that is %s is named, and nothing changes', async (_, list, version) => {
    const { migrate } = await create();
    await migrate([NOTES, STARS, TAGS]);

    for (const migrations of [list, [...list, 'CREATE TABLE later (x int)']]) {
      await expect(migrate(migrations)).rejects.toThrow(
        `migration ${version} is not the one that was applied`,
      );
    }
    expect(await migrate([NOTES, STARS, TAGS])).toEqual([]);
  });

  test('a migration may be formatted anew, and a program may know fewer of them', async () => {
    const { migrate } = await create();
    const all = [NOTES, STARS, TAGS];
    await migrate(all);

    expect(await migrate(all.map((text) => `\n  ${text.replaceAll(' ', '\n    ')}\n`))).toEqual([]);
    expect(await migrate([NOTES])).toEqual([]);
  });

  test('tables of a program without checksums get them with the next migration', async () => {
    const { migrate, run } = await create();
    await migrate([NOTES]);
    await run(removal);

    expect(await migrate(['CREATE TABLE notes (other text)'])).toEqual([]);
    expect(await migrate([NOTES, STARS, TAGS])).toEqual([2, 3]);
    await expect(migrate(['CREATE TABLE notes (other text)'])).rejects.toThrow(
      'migration 1 is not the one that was applied',
    );
  });
});
