import { openPostgres } from '@fw/service/postgres';
import { openDatabase } from '@fw/service/sqlite';
import { startTestPostgres } from '@fw/service/testing/vitest';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openPostgresUserStore } from './store/postgres.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import { USERS_FORMAT } from './store/sqlite-migrations.ts';
import type { UserStore } from './store.ts';
import { ADA, createTestApi, newFile, TEN } from './testing.ts';

const USERS = '/api/v2/users';
const BOB = { name: 'Bob', email: 'bob@example.com' };
/** As stored by every version of this service. */
const FINGERPRINT_OF_ADA = 'tktiQPPPt-F3ZGWw7bs9GlBQe25VYsvUjgZ_WW4f2xE';
const KEY = { 'Idempotency-Key': 'k1' };

/** A database for one test. */
interface Database {
  open(): UserStore;
  /** Runs SQL as another program. */
  run(sql: string): Promise<void>;
  /** A row with this key, as the first version with keys stored it at `TEN`. */
  insertKey(fingerprint: string, user: string): string;
}

const server = startTestPostgres();

async function createPostgres(): Promise<Database> {
  const url = await server().createDatabase();
  const open = () => openPostgresUserStore({ url, statementTimeoutMs: 20_000 });
  return {
    open,
    async run(text) {
      const database = openPostgres({ url, name: 'test', migrations: [] });
      await database.query({ name: 'run_sql', text }).finally(() => database.close());
    },
    insertKey: (fingerprint, user) =>
      `INSERT INTO users_idempotency (key, fingerprint, "user", created_at)
       VALUES ('k1', '${fingerprint}', '${user}', '${TEN}')`,
  };
}

async function createSqlite(): Promise<Database> {
  const file = newFile();
  return {
    open: () => openSqliteUserStore(file),
    async run(sql) {
      const database = openDatabase(file, USERS_FORMAT);
      database.exec(sql);
      database.close();
    },
    insertKey: (fingerprint, user) =>
      `INSERT INTO idempotency VALUES ('k1', '${fingerprint}', '${user}', ${Date.parse(TEN)})`,
  };
}

function createApi(database: Database) {
  const store = database.open();
  onTestFinished(() => store.close());
  const { clock, send } = createTestApi({ store });
  return { store, clock, create: (body: object) => send('POST', USERS, body, KEY), send };
}

describe.each([
  ['SQLite', createSqlite],
  ['PostgreSQL', createPostgres],
])('an idempotency key on %s', (_, createDatabase) => {
  test('returns the user as created, even if the user was changed or deleted', async () => {
    const { create, send, store } = createApi(await createDatabase());
    const first = await (await create(ADA)).text();

    await send('PATCH', `${USERS}/u1`, { name: 'Ada L.', email: 'ada@example.org' });
    const changed = await create(ADA);
    await send('DELETE', `${USERS}/u1`);
    const deleted = await create(ADA);

    for (const response of [changed, deleted]) {
      expect(response.status).toBe(201);
      expect(response.headers.get('location')).toBe(`${USERS}/u1`);
      expect(response.headers.get('etag')).toBe('"1"');
      expect(response.headers.get('cache-control')).toBe('private, no-cache');
      expect(await response.text()).toBe(first);
    }
    expect((await store.list()).total).toBe(0);
  });

  test('is not used up by a rejected creation', async () => {
    const { create, send } = createApi(await createDatabase());
    await send('POST', USERS, ADA);

    const taken = await create({ ...BOB, email: ADA.email });
    const next = await create(BOB);

    expect([taken.status, next.status]).toEqual([409, 201]);
  });

  test('creates one user for concurrent requests, which all get it', async () => {
    const { create, store } = createApi(await createDatabase());

    const sendOne = async () => (await create(ADA)).text();
    const texts = await Promise.all(Array.from({ length: 20 }, sendOne));

    expect(new Set(texts)).toEqual(new Set([expect.stringContaining(ADA.email)]));
    expect((await store.list()).total).toBe(1);
  });

  test('of another body gets 422, whether its e-mail is taken or not', async () => {
    const { create, send } = createApi(await createDatabase());
    await send('POST', USERS, BOB);
    await create(ADA);

    const statuses = [];
    for (const email of [ADA.email, BOB.email, 'free@example.com']) {
      statuses.push((await create({ name: 'Eve', email })).status);
    }

    expect(statuses).toEqual([422, 422, 422]);
  });

  test('expires after 24 hours', async () => {
    const { clock, create } = createApi(await createDatabase());
    const bodyAt = async (time: string, body: object) => {
      clock.time = time;
      return (await create(body)).json();
    };
    const first = await bodyAt('2026-11-21T10:00:00.000Z', ADA);

    const almost = await bodyAt('2026-11-22T09:59:59.999Z', ADA);
    const after = await bodyAt('2026-11-22T10:00:00.000Z', BOB);

    expect(almost).toEqual(first);
    expect(after).toMatchObject({ data: BOB });
  });

  test('that an earlier version of this service has stored returns its user', async () => {
    const database = await createDatabase();
    const { create, store } = createApi(database);
    await store.migrate();
    const time = Date.parse(TEN);
    const user = JSON.stringify(['old', ADA.name, ADA.email, time, time, 1]);
    await database.run(database.insertKey(FINGERPRINT_OF_ADA, user));

    const response = await create(ADA);

    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ data: { id: 'old', ...ADA, createdAt: TEN } });
  });
});
