import { readConfig } from '@fw/service';
import { openPostgres, type PendingResponse } from '@fw/service/postgres';
import { startTestPostgres } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { type Pgbouncer, startPgbouncer } from '../../../../deploy/local/testing/pgbouncer.ts';
import { VARIABLES } from '../config.ts';
import { describeUserStore, manyUsers } from '../store.test-suite.ts';
import type { UserStore } from '../store.ts';
import { userOf } from '../testing.ts';
import type { User } from '../user.ts';
import { openStore } from './open.ts';
import { openPostgresUserStore } from './postgres.ts';
import { USERS_MIGRATIONS } from './postgres-migrations.ts';

const server = startTestPostgres();
const EMPTY = 'TRUNCATE users, users_idempotency, users_counts, users_ranges';

describeUserStore('PostgreSQL store', () => openWithoutUsers(server().url));

describe.each(['session', 'transaction'] as const)('PgBouncer in %s mode', (poolMode) => {
  let pooler: Pgbouncer;
  beforeAll(async () => {
    pooler = await startPgbouncer(server().url, poolMode);
  });
  afterAll(() => pooler?.stop());

  describeUserStore('PostgreSQL store', () => openWithoutUsers(pooler.through(server().url)));
});

async function openWithoutUsers(url: string): Promise<UserStore> {
  const store = openPostgresUserStore({ url, statementTimeoutMs: 20_000 });
  await store.migrate();
  await runSql(EMPTY);
  return store;
}

function open(): UserStore {
  return openPostgresUserStore({ url: server().url, statementTimeoutMs: 20_000 });
}

async function openEmpty(count: number): Promise<UserStore[]> {
  const stores = Array.from({ length: count }, open);
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  await Promise.all(stores.map((store) => store.migrate()));
  await runSql(EMPTY);
  return stores;
}

async function runSql(text: string): Promise<readonly unknown[]> {
  const database = openPostgres({ url: server().url, name: 'test', migrations: [] });
  try {
    return await database.query({ name: 'run_sql', text });
  } finally {
    await database.close();
  }
}

test('openStore opens the users in DATABASE_URL', async () => {
  const [other] = await openEmpty(1);
  await other?.insert(userOf('cyd'));

  const store = await openStore(readConfig(VARIABLES, { DATABASE_URL: server().url }));
  onTestFinished(() => store.close());

  expect(await store.find('cyd')).toEqual(userOf('cyd'));
});

test('a migration counts the stored users', async () => {
  const { store } = await migrateFrom(
    1,
    `INSERT INTO users (id, name, email, created_at, updated_at)
     VALUES ('ada', 'Ada', 'ada@Example.com', 'epoch', 'epoch')`,
  );

  expect(await store.figures({ days: 1, domains: 9, now: new Date(0) })).toEqual({
    total: 1,
    byDay: [{ date: '1970-01-01', count: 1 }],
    byDomain: [{ domain: 'example.com', count: 1 }],
  });
});

test('slices of many users are complete after a migration and deletions', async () => {
  const epoch = "CAST('epoch' AS timestamptz)";
  const { store, old } = await migrateFrom(2, manyUsers.insert(epoch), manyUsers.deleteBefore);
  await old.query({ name: 'delete', text: manyUsers.deleteAfter });

  await manyUsers.check(store);
});

/** Opens a store on a database that `statements` have filled in an old version of the tables. */
async function migrateFrom(version: number, ...statements: readonly string[]) {
  const url = await server().createDatabase();
  const options = { url, name: 'users', statementTimeoutMs: 20_000 };
  const old = openPostgres({ ...options, migrations: USERS_MIGRATIONS.slice(0, version) });
  for (const [at, text] of statements.entries()) await old.query({ name: `fill_${at}`, text });
  const store = openPostgresUserStore(options);
  await store.migrate();
  onTestFinished(async () => {
    await old.close();
    await store.close();
  });
  return { store, old };
}

test('of concurrent inserts in several processes, one gets the e-mail', async () => {
  const stores = await openEmpty(3);

  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      stores[at % 3]?.insert(userOf(`${at}`, { email: at % 2 ? 'A@b.c' : 'a@b.c' }), {
        uniqueEmail: true,
      }),
    ),
  );

  expect(outcomes.filter((outcome) => outcome === 'email-taken')).toHaveLength(59);
  expect((await stores[0]?.list())?.total).toBe(1);
});

/** Inserts a user with an idempotency key. */
function insertWithKey(store: UserStore | undefined, key: string, user: User) {
  const attempt = { key, fingerprint: '', owner: '', nowMs: 0, retentionMs: 1_000 };
  const save = (list: unknown) => void (list as PendingResponse[]).push({ attempt, response: '' });
  return store?.insert(user, { uniqueEmail: true, idempotency: { key, save } });
}

test.each([
  ['e-mail', (at: number) => `${at}`, () => 'a@b.c'],
  ['key', () => 'k', (at: number) => `${at}@b.c`],
])('of 60 inserts with one %s in several processes, one is stored', async (_, keyOf, emailOf) => {
  const stores = await openEmpty(3);
  const insert = (at: number) =>
    insertWithKey(stores[at % 3], keyOf(at), userOf(`${at}`, { email: emailOf(at) }));

  const outcomes = await Promise.all(Array.from({ length: 60 }, (_, at) => insert(at)));

  expect(outcomes.filter((outcome) => outcome === 'email-taken')).toHaveLength(59);
  expect(await runSql('SELECT key FROM users_idempotency')).toHaveLength(1);
  expect((await stores[0]?.list())?.total).toBe(1);
});

test('an insert whose key is in use does not claim its e-mail, also not in a batch', async () => {
  const [store] = await openEmpty(1);
  await insertWithKey(store, 'used', userOf('first', { email: 'first@b.c' }));

  const outcomes = await Promise.all(
    ['used', 'free', 'used'].map((key, at) =>
      insertWithKey(store, key, userOf(`${at}`, { email: 'a@b.c' })),
    ),
  );

  expect(outcomes).toEqual(['email-taken', expect.objectContaining({ id: '1' }), 'email-taken']);
});
