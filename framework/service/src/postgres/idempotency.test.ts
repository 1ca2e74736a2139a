import { expect, onTestFinished, test } from 'vitest';

import { startTestPostgres } from '../testing/vitest.ts';
import { openPostgres, postgresIdempotency, postgresIdempotencyTable } from './postgres.ts';

const TABLE = { table: 'answers', column: 'answer' };
const KEYS = {
  name: 'keys',
  text: "SELECT string_agg(key, ' ' ORDER BY created_at) AS keys FROM answers",
};
const attemptOf = (key: string, nowMs = 0) => ({
  key,
  fingerprint: `of ${key}`,
  owner: '',
  nowMs,
  retentionMs: 1_000,
});

const server = startTestPostgres();

async function open() {
  const url = await server().createDatabase();
  const migrations = [postgresIdempotencyTable(TABLE)];
  const database = openPostgres({ url, name: 'test', migrations, statementTimeoutMs: 20_000 });
  onTestFinished(() => database.close());
  const store = postgresIdempotency(database, TABLE);
  const save = (key: string, nowMs = 0) =>
    database.transaction(async (query) => {
      await store.save(query, attemptOf(key, nowMs), `${key} at ${nowMs}`);
    });
  return { database, store, save };
}

test('a response is found until it expires', async () => {
  const { store, save } = await open();
  await save('k');

  const found = ['k', 'K'].map((key) => store.find(attemptOf(key, 999)));
  const expired = store.find(attemptOf('k', 1_000));

  expect(await Promise.all(found)).toEqual([
    { fingerprint: 'of k', response: 'k at 0' },
    undefined,
  ]);
  expect(await expired).toBeUndefined();
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

test('a transaction saves several responses with one statement, or none if one key is taken', async () => {
  const { database, store, save } = await open();
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

test('save without a transaction rejects', async () => {
  const { database, store } = await open();

  await expect(store.save(database.query, attemptOf('k'), '')).rejects.toThrow(
    'Cannot save the response: expected the query of a transaction',
  );
});

test('a save deletes expired responses in the background, once a minute', async () => {
  const { database, save } = await open();
  const keys = async () => (await database.query(KEYS))[0]?.keys;
  for (let at = 0; at < 5; at++) await save(`old-${at}`, at);

  await save('second', 1_003);
  const withinMinute = await keys();
  await save('minute', 60_000);

  expect(withinMinute).toBe('old-0 old-1 old-2 old-3 old-4 second');
  await expect.poll(keys, { interval: 5 }).toBe('minute');
});
