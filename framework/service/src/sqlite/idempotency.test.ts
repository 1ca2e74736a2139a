import { expect, onTestFinished, test } from 'vitest';

import {
  createGroupCommit,
  openDatabase,
  sqliteIdempotency,
  sqliteIdempotencyTable,
} from './sqlite.ts';

const FORMAT = { applicationId: 0x6e6f7465, migrations: [sqliteIdempotencyTable()] };
const attemptOf = (key: string, nowMs = 0) => ({
  key,
  fingerprint: `of ${key}`,
  owner: '',
  nowMs,
  retentionMs: 1_000,
});

function open() {
  const database = openDatabase(':memory:', FORMAT);
  onTestFinished(() => database.close());
  const store = sqliteIdempotency(database);
  const { write } = createGroupCommit(database);
  const save = (key: string, nowMs?: number) =>
    write(() => store.save(database, attemptOf(key, nowMs), `${key} at ${nowMs ?? 0}`));
  return { database, store, save, write };
}

test('a response is found until it expires', async () => {
  const { store, save } = open();
  await save('k');

  expect(await store.find(attemptOf('k', 999))).toEqual({
    fingerprint: 'of k',
    response: 'k at 0',
  });
  expect(await store.find(attemptOf('k', 1_000))).toBeUndefined();
  expect(await store.find(attemptOf('K'))).toBeUndefined();
});

test('a key can be saved again only after it has expired', async () => {
  const { store, save } = open();
  await save('k');

  await expect(save('k', 999)).rejects.toMatchObject({ status: 409, code: 'KEY_IN_USE' });
  await save('k', 1_000);

  expect(await store.find(attemptOf('k', 1_000))).toMatchObject({ response: 'k at 1000' });
});

test('a response is rolled back with the transaction', async () => {
  const { database, store, write } = open();

  await write(() => {
    store.save(database, attemptOf('k'), 'response');
    throw new Error('rolled back');
  }).catch(() => {});

  expect(await store.find(attemptOf('k'))).toBeUndefined();
});

test('save outside a transaction, or with another database, throws', () => {
  const { database, store } = open();
  const other = open().database;
  other.exec('BEGIN');

  const message = 'Cannot save the response: expected the database, in a transaction';
  expect(() => store.save(database, attemptOf('k'), '')).toThrow(message);
  expect(() => store.save(other, attemptOf('k'), '')).toThrow(message);
});

test('each save deletes up to ten expired responses', async () => {
  const { database, save } = open();
  for (let at = 0; at < 12; at++) await save(`old-${at}`, at);

  await save('new', 5_000);

  const keys = database.prepare('SELECT key FROM idempotency ORDER BY created_at').all();
  expect(keys.map(({ key }) => key)).toEqual(['old-10', 'old-11', 'new']);
});

test.each(['', 'a b', 'a;--', '1a', 'A', 'a'.repeat(41)])('a table named %j throws', (table) => {
  expect(() => sqliteIdempotencyTable({ table })).toThrow(
    `Cannot read option table "${table}" of sqliteIdempotencyTable(): expected up to 40 of`,
  );
});
