import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { readConfig } from '@fw/service';
import { openPostgres } from '@fw/service/postgres';
import { startTestPostgres } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';
import { VARIABLES } from '../config.ts';
import { describeUserStore } from '../store.test-suite.ts';
import { openStore, type UserStore } from '../store.ts';
import { openPostgresUserStore } from './postgres.ts';
import { USERS_MIGRATIONS } from './postgres-migrations.ts';

const CYD = {
  id: 'cyd',
  name: 'Cyd',
  email: 'cyd@example.com',
  createdAt: new Date(0),
  updatedAt: new Date(0),
  version: 1,
};

const withKey = (key: string) =>
  ({ uniqueEmail: true, idempotency: { key, fingerprint: 'f' } }) as const;

/** Finds the deletion of one expired key while it waits for a lock. */
const WAITING_DELETE = `SELECT FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM users_idempotency WHERE key = %'`;

const server = startTestPostgres();

describeUserStore('PostgreSQL store', async () => {
  const store = open();
  await store.migrate();
  await runSql('TRUNCATE users, users_idempotency, users_counts');
  return store;
});

function open(): UserStore {
  return openPostgresUserStore({ url: server().url, statementTimeoutMs: 20_000 });
}

async function openEmpty(count: number): Promise<UserStore[]> {
  const stores = Array.from({ length: count }, open);
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  await Promise.all(stores.map((store) => store.migrate()));
  await runSql('TRUNCATE users, users_idempotency, users_counts');
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
  await other?.insert(CYD);

  const store = await openStore(readConfig(VARIABLES, { DATABASE_URL: server().url }));
  onTestFinished(() => store.close());

  expect(await store.find('cyd')).toEqual(CYD);
});

test('a migration counts the stored users', async () => {
  const url = await server().createDatabase();
  const migrations = USERS_MIGRATIONS.slice(0, 1);
  const old = openPostgres({ url, name: 'users', migrations, statementTimeoutMs: 20_000 });
  const text = `INSERT INTO users (id, name, email, created_at, updated_at)
    VALUES ('ada', 'Ada', 'ada@Example.com', 'epoch', 'epoch')`;
  await old.query({ name: 'insert', text });
  await old.close();

  const store = openPostgresUserStore({ url, statementTimeoutMs: 20_000 });
  onTestFinished(() => store.close());

  expect(await store.figures({ days: 1, domains: 9, now: new Date(0) })).toEqual({
    total: 1,
    byDay: [{ date: '1970-01-01', count: 1 }],
    byDomain: [{ domain: 'example.com', count: 1 }],
  });
});

test('of concurrent inserts in several processes, one gets the e-mail', async () => {
  const stores = await openEmpty(3);

  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      stores[at % 3]?.insert(
        { ...CYD, id: `${at}`, email: at % 2 ? 'A@b.c' : 'a@b.c' },
        { uniqueEmail: true },
      ),
    ),
  );

  expect(outcomes.filter((outcome) => outcome === 'email-taken')).toHaveLength(59);
  expect((await stores[0]?.list())?.total).toBe(1);
});

test('concurrent inserts with the same key in several processes create one user and return it', async () => {
  const stores = await openEmpty(3);
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      stores[at % 3]?.insert({ ...CYD, id: `${at}` }, withKey('k')),
    ),
  );

  const { users = [] } = (await stores[0]?.list()) ?? {};
  expect(users).toHaveLength(1);
  expect(outcomes).toEqual(Array(60).fill(users[0]));
});

test('an expired key that another program deletes meanwhile is used again', async () => {
  const [store] = await openEmpty(1);
  await store?.insert(CYD, withKey('k'));
  const other = openPostgres({ url: server().url, name: 'test', migrations: [] });
  onTestFinished(() => other.close());
  const user = { ...CYD, id: 'new', email: 'new', createdAt: new Date(24 * 60 * 60 * 1_000) };

  const { inserted } = await other.transaction(async (query) => {
    await query({ name: 'lock', text: 'SELECT FROM users_idempotency FOR UPDATE' });
    const inserted = store?.insert(user, withKey('k'));
    await expect.poll(() => runSql(WAITING_DELETE)).toHaveLength(1);
    await query({ name: 'delete', text: 'DELETE FROM users_idempotency' });
    return { inserted };
  });

  expect(await inserted).toMatchObject({ id: 'new' });
});

test('an insert deletes expired keys, once a minute', async () => {
  const [store] = await openEmpty(1);
  const insert = (id: string, createdMs: number) =>
    store?.insert({ ...CYD, id, email: id, createdAt: new Date(createdMs) }, withKey(id));
  const other = openPostgres({ url: server().url, name: 'test', migrations: [] });
  onTestFinished(() => other.close());
  const text = "SELECT string_agg(key, ' ' ORDER BY key) AS keys FROM users_idempotency";
  const keys = async () => (await other.query({ name: 'keys', text }))[0];
  const dayMs = 24 * 60 * 60 * 1_000;
  for (let at = 0; at < 5; at++) await insert(`old-${at}`, at);

  await insert('day', dayMs + 3);
  await expect.poll(keys, { interval: 5 }).toEqual({ keys: 'day old-4' });
  await insert('day+59', dayMs + 3 + 59_999);
  const withinMinute = await keys();
  await insert('day+60', dayMs + 3 + 60_000);

  expect(withinMinute).toEqual({ keys: 'day day+59 old-4' });
  await expect.poll(keys, { interval: 5 }).toEqual({ keys: 'day day+59 day+60' });
});

test('a user that was created just before the process was killed is not created again', async () => {
  const [store] = await openEmpty(1);
  const program = `
    import { openPostgresUserStore } from ${JSON.stringify(new URL('./postgres.ts', import.meta.url))};
    const store = openPostgresUserStore({ url: ${JSON.stringify(server().url)}, statementTimeoutMs: 20_000 });
    const user = { ...${JSON.stringify(CYD)}, createdAt: new Date(0), updatedAt: new Date(0) };
    await store.insert(user, ${JSON.stringify(withKey('k'))});
    process.kill(process.pid, 'SIGKILL');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const [, signal] = await once(child, 'exit');

  const again = await store?.insert({ ...CYD, id: 'x' }, withKey('k'));

  expect(signal).toBe('SIGKILL');
  expect(again).toEqual(CYD);
  expect((await store?.list())?.total).toBe(1);
});
