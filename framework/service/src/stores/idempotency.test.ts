import { describe, expect, onTestFinished, test } from 'vitest';

import {
  openPostgres,
  postgresIdempotency,
  postgresIdempotencyTable,
} from '../postgres/postgres.ts';
import {
  createGroupCommit,
  openDatabase,
  sqliteIdempotency,
  sqliteIdempotencyTable,
} from '../sqlite/sqlite.ts';
import { startTestPostgres } from '../testing/vitest.ts';

const TABLE = { table: 'answers', column: 'answer' };

const attemptOf = (key: string, nowMs = 0) => ({
  key,
  fingerprint: `of ${key}`,
  owner: '',
  nowMs,
  retentionMs: 1_000,
});

const server = startTestPostgres();

async function openPostgresStore() {
  const url = await server().createDatabase();
  const migrations = [postgresIdempotencyTable(TABLE)];
  const database = openPostgres({ url, name: 'test', migrations, statementTimeoutMs: 20_000 });
  onTestFinished(() => database.close());
  const store = postgresIdempotency(database, TABLE);
  const save = (key: string, nowMs = 0, fail?: () => void) =>
    database.transaction(async (query) => {
      await store.save(query, attemptOf(key, nowMs), `${key} at ${nowMs}`);
      fail?.();
    });
  return { database, store, save };
}

async function openSqliteStore() {
  const format = { applicationId: 0x6e6f7465, migrations: [sqliteIdempotencyTable(TABLE)] };
  const database = openDatabase(':memory:', format);
  onTestFinished(() => database.close());
  const store = sqliteIdempotency(database, TABLE);
  const { write } = createGroupCommit(database);
  const save = (key: string, nowMs = 0, fail?: () => void) =>
    write(() => {
      store.save(database, attemptOf(key, nowMs), `${key} at ${nowMs}`);
      fail?.();
    });
  return { database, store, save };
}

describe.each([
  ['SQLite', openSqliteStore],
  ['PostgreSQL', openPostgresStore],
] as const)('in %s', (_, open) => {
  test('a response is found until it expires', async () => {
    const { store, save } = await open();
    await save('k');

    const attempts = [attemptOf('k', 999), attemptOf('K', 999), attemptOf('k', 1_000)];
    const found = await Promise.all(attempts.map((attempt) => store.find(attempt)));

    expect(found).toEqual([{ fingerprint: 'of k', response: 'k at 0' }, undefined, undefined]);
  });

  test('a key can be saved again only after it has expired', async () => {
    const { store, save } = await open();
    await save('k');

    await expect(save('k', 999)).rejects.toMatchObject({ status: 409, code: 'KEY_IN_USE' });
    await save('k', 1_000);

    expect(await store.find(attemptOf('k', 1_000))).toMatchObject({ response: 'k at 1000' });
  });

  test('of concurrent transactions with one key, one is committed', async () => {
    const { save } = await open();

    const results = await Promise.allSettled(Array.from({ length: 20 }, () => save('k')));

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('a response is rolled back with the transaction', async () => {
    const { store, save } = await open();

    const saved = save('k', 0, () => {
      throw new Error('rolled back');
    });

    await expect(saved).rejects.toThrow('rolled back');
    expect(await store.find(attemptOf('k'))).toBeUndefined();
  });
});

test('a transaction on PostgreSQL saves several responses with one statement, or none if one key is taken', async () => {
  const { database, store, save } = await openPostgresStore();
  await save('taken');
  let statements = 0;
  const saveAll = (keys: readonly string[]) =>
    database.transaction(async (query) => {
      const counted: typeof query = (statement, values) => {
        statements++;
        return query(statement, values);
      };
      await Promise.all(keys.map((key) => store.save(counted, attemptOf(key), key)));
    });

  await saveAll(['a', 'b', 'c']);
  await expect(saveAll(['d', 'taken'])).rejects.toMatchObject({ code: 'KEY_IN_USE' });

  expect(statements).toBe(2);
  const known = await Promise.all(['a', 'c', 'd'].map((key) => store.find(attemptOf(key))));
  expect(known.map((saved) => saved?.response)).toEqual(['a', 'c', undefined]);
});

test('save outside a transaction, or with another database, throws', async () => {
  const { database, store } = await openPostgresStore();
  const sqlite = await openSqliteStore();
  const other = (await openSqliteStore()).database;
  other.exec('BEGIN');

  await expect(store.save(database.query, attemptOf('k'), '')).rejects.toThrow(
    'Cannot save the response: expected the query of a transaction',
  );
  for (const transaction of [sqlite.database, other]) {
    expect(() => sqlite.store.save(transaction, attemptOf('k'), '')).toThrow(
      'Cannot save the response: expected the database, in a transaction',
    );
  }
});

test('a save on PostgreSQL deletes expired responses in the background, once a minute', async () => {
  const { database, save } = await openPostgresStore();
  const text = "SELECT string_agg(key, ' ' ORDER BY created_at) AS keys FROM answers";
  const keys = async () => (await database.query({ name: 'keys', text }))[0]?.keys;
  for (let at = 0; at < 5; at++) await save(`old-${at}`, at);

  await save('second', 1_003);
  const withinMinute = await keys();
  await save('minute', 60_000);

  expect(withinMinute).toBe('old-0 old-1 old-2 old-3 old-4 second');
  await expect.poll(keys, { interval: 5 }).toBe('minute');
});

test('each save on SQLite deletes up to ten expired responses', async () => {
  const { database, save } = await openSqliteStore();
  for (let at = 0; at < 12; at++) await save(`old-${at}`, at);

  await save('new', 5_000);

  const keys = database.prepare('SELECT key FROM answers ORDER BY created_at').all();
  expect(keys.map(({ key }) => key)).toEqual(['old-10', 'old-11', 'new']);
});

test.each(['', 'a b', 'a;--', '1a', 'A', 'a'.repeat(41)])('a table named %j throws', (table) => {
  expect(() => sqliteIdempotencyTable({ table })).toThrow(
    `Cannot read option table "${table}" of sqliteIdempotencyTable(): expected up to 40 of`,
  );
});
