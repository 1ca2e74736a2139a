import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { quiet } from '@fw/core/testing';
import { type ClaimStore, idempotency, keyInUse, memoryStore } from '@fw/middleware/idempotency';
import { redisStore } from '@fw/middleware/idempotency/redis';
import {
  openPostgres,
  type PendingResponse,
  type Postgres,
  postgresIdempotency,
  postgresIdempotencyInsert,
  postgresIdempotencyTable,
  postgresIdempotencyValues,
} from '@fw/service/postgres';
import {
  createGroupCommit,
  openDatabase,
  sqliteIdempotency,
  sqliteIdempotencyTable,
} from '@fw/service/sqlite';
import { newFolder } from '@fw/service/testing/vitest';
import { type Application, type Context, createApp, errorHandler } from 'fw';

import { connect } from '../../framework/rate-limit/src/testing/redis-client.ts';

/** Several replicas of a service that creates things, and what it has created. */
export interface System {
  readonly replicas: readonly Application[];
  /** The created values by idempotency key. */
  effects(): Promise<ReadonlyMap<string, readonly string[]>>;
  close(): Promise<void>;
}

const CREATE = `CREATE TABLE effects (key TEXT NOT NULL, value TEXT NOT NULL);`;
const REPLICAS = 3;
const MAX_WORK_MS = 4;

/** Whether the client wants the handler to fail; not part of the fingerprint. */
const mustFail = (ctx: Context) => ctx.get('x-fail') === '1';
const failure = () => new Error('the handler failed');
const work = () => sleep(Math.random() * MAX_WORK_MS);

let values = 0;
const newValue = () => `v${++values}`;
const keyOf = (ctx: Context) => String(ctx.get('idempotency-key'));

type Once = ReturnType<typeof idempotency>;

function createReplica(once: Once, handle: (ctx: Context) => unknown): Application {
  const app = createApp({ logger: quiet });
  app.use(errorHandler(), json());
  app.post('/', once, handle);
  return app;
}

function group(rows: Iterable<readonly [string, string]>): ReadonlyMap<string, string[]> {
  const effects = new Map<string, string[]>();
  for (const [key, value] of rows) effects.set(key, [...(effects.get(key) ?? []), value]);
  return effects;
}

/** Replicas with a claim store each, whose work has no transaction. */
function createClaiming(stores: readonly ClaimStore[], close = () => {}): System {
  const effects: (readonly [string, string])[] = [];
  const replicas = stores.map((store) =>
    createReplica(idempotency({ store, waitMs: 60_000 }), async (ctx) => {
      await work();
      if (mustFail(ctx)) throw failure();
      const value = newValue();
      effects.push([keyOf(ctx), value]);
      await work();
      ctx.status = 201;
      return { value };
    }),
  );
  return {
    replicas,
    effects: async () => group(effects),
    async close() {
      close();
    },
  };
}

/** One process; `change` returns its store with a bug. */
export async function createMemorySystem(
  change = (store: ClaimStore): ClaimStore => store,
): Promise<System> {
  return createClaiming([change(memoryStore())]);
}

export async function createRedisSystem(url: string): Promise<System> {
  const prefix = `${newValue()}:`;
  const clients = await Promise.all(Array.from({ length: REPLICAS }, () => connect(url)));
  return createClaiming(
    clients.map((client) => redisStore(client, { prefix, timeoutMs: 30_000 })),
    () => {
      for (const client of clients) client.destroy();
    },
  );
}

export async function createSqliteSystem(): Promise<System> {
  const file = path.join(newFolder(), 'test.db');
  const format = { applicationId: 1, migrations: [CREATE + sqliteIdempotencyTable()] };
  const databases = Array.from({ length: REPLICAS }, () => openDatabase(file, format));
  const replicas = databases.map((database) => {
    const { write } = createGroupCommit(database, { timeoutMs: 60_000 });
    const store = sqliteIdempotency(database);
    const insert = database.prepare('INSERT INTO effects VALUES (?, ?)');
    return createReplica(idempotency({ store }) as Once, async (ctx) => {
      await work();
      return write(() => {
        const value = newValue();
        insert.run(keyOf(ctx), value);
        ctx.status = 201;
        ctx.json({ value });
        ctx.state.idempotency?.save(database);
        if (mustFail(ctx)) throw failure();
      });
    });
  });
  return {
    replicas,
    async effects() {
      const rows = databases[0]?.prepare('SELECT key, value FROM effects').all() ?? [];
      return group(rows.map(({ key, value }) => [String(key), String(value)]));
    },
    async close() {
      for (const database of databases) database.close();
    },
  };
}

/** The work and its response are one statement, and the key is looked up only if that fails. */
function createInOneStatement(database: Postgres): Application {
  const text = `WITH stored AS (${postgresIdempotencyInsert()})
    INSERT INTO effects SELECT $6, $7 FROM stored RETURNING key`;
  const once = idempotency({ store: postgresIdempotency(database), lookUpFirst: false });
  return createReplica(once as Once, async (ctx) => {
    const value = newValue();
    ctx.status = 201;
    ctx.json({ value });
    const responses: PendingResponse[] = [];
    ctx.state.idempotency?.save(responses);
    await work();
    if (mustFail(ctx)) throw failure();
    const values = [...postgresIdempotencyValues(responses), keyOf(ctx), value];
    const rows = await database.query({ name: 'insert_both', text }, values);
    if (rows.length === 0) throw keyInUse();
  });
}

export async function createPostgresSystem(
  url: string,
  { inOneStatement = false } = {},
): Promise<System> {
  const databases = Array.from({ length: REPLICAS }, () =>
    openPostgres({
      url,
      name: 'test',
      migrations: [CREATE + postgresIdempotencyTable()],
      statementTimeoutMs: 60_000,
    }),
  );
  for (const database of databases) await database.migrate();
  const insert = { name: 'insert', text: 'INSERT INTO effects VALUES ($1, $2)' };
  const list = { name: 'list', text: 'SELECT key, value FROM effects' };
  const replicas = databases.map((database) => {
    if (inOneStatement) return createInOneStatement(database);
    const store = postgresIdempotency(database);
    return createReplica(idempotency({ store }) as Once, (ctx) =>
      database.transaction(async (query) => {
        const value = newValue();
        await query(insert, [keyOf(ctx), value]);
        await work();
        ctx.status = 201;
        ctx.json({ value });
        await ctx.state.idempotency?.save(query);
        if (mustFail(ctx)) throw failure();
      }),
    );
  });
  return {
    replicas,
    async effects() {
      const rows = (await databases[0]?.query(list)) ?? [];
      return group(rows.map(({ key, value }) => [String(key), String(value)]));
    },
    async close() {
      await Promise.all(databases.map((database) => database.close()));
    },
  };
}
