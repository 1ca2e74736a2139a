import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { ADD, asAdmin, LIST, openNotes, unavailable } from '../fixtures/notes.ts';
import { recordLog } from '../testing/log.ts';
import { requirePasswords } from '../testing/passwords.ts';
import { startTestPostgres } from '../testing/vitest.ts';
import type { PoolMetrics, PoolUse, Postgres } from './postgres.ts';

const server = startTestPostgres();

const ACCEPTED = 'PostgreSQL accepts new connections for notes again';
const CHANGED = 'PostgreSQL uses the changed address for notes';

/** A database that requires passwords, and the role that owns its tables. */
async function newDatabase() {
  const url = await server().createDatabase();
  await requirePasswords(url);
  const role = new URL(url).pathname.slice(1);
  const sql = (text: string) => asAdmin(url, text);
  await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'old'; GRANT CREATE ON SCHEMA public TO ${role}`);
  const sessions = (name = role) => `FROM pg_stat_activity WHERE usename = '${name}'`;
  return {
    role,
    sql,
    /** The address for a role and its password. */
    as: (password: string, name = role) => url.replace('postgres@', `${name}:${password}@`),
    /** The number of connections of a role. */
    count: async (name?: string) => (await sql(`SELECT ${sessions(name)}`)).rowCount ?? 0,
    /** Ends all connections of the role but `kept`, and waits until the pool has noticed. */
    async end(size: () => number | undefined, kept = 0) {
      const ended = `(SELECT pid ${sessions()} OFFSET ${kept}) AS ended`;
      await sql(`SELECT pg_terminate_backend(pid) FROM ${ended}`);
      await expect.poll(size).toBe(kept);
    },
  };
}

/** Sends statements and transactions from several clients until `stop`, which resolves with their errors. */
function startLoad(postgres: Postgres, clients = 16) {
  const errors: unknown[] = [];
  let calls = 0;
  let isStopped = false;
  const client = async (_: unknown, at: number) => {
    while (!isStopped) {
      const id = calls++;
      const work = () =>
        at % 2 === 0
          ? postgres.query(ADD, [id, 'text'])
          : postgres.transaction(async (query) => query(ADD, [id, 'text']));
      await work().catch((error: unknown) => errors.push(error));
    }
  };
  const done = Promise.all(Array.from({ length: clients }, client));
  return {
    async stop() {
      isStopped = true;
      await done;
      const rows = await postgres.query({ name: 'count', text: 'SELECT count(*) FROM notes' });
      // No acknowledged call is lost, and none has run twice.
      expect(Number(rows[0]?.count)).toBe(calls - errors.length);
      return { errors, calls };
    },
  };
}

/** Opens the database at an address that the test changes. */
async function openChanging(url: string) {
  const address = { url };
  const { lines, logger } = recordLog();
  const pools: (() => PoolUse)[] = [];
  const metrics: PoolMetrics = { watchPool: (_, read) => void pools.push(read) };
  const postgres = openNotes(() => address.url, { logger, metrics, poolSize: 6 });
  await postgres.check();
  return { address, lines, postgres, size: () => pools[0]?.().size };
}

/** Resolves once the log contains `line`. */
async function logged(lines: readonly string[], line: string): Promise<void> {
  await expect.poll(() => lines, { timeout: 20_000 }).toContainEqual(expect.stringContaining(line));
}

describe('no call fails when the address changes', () => {
  test('to a second role, whose connections replace those of the first', async () => {
    const { role, sql, as, count } = await newDatabase();
    const { address, lines, postgres } = await openChanging(as('old'));
    const load = startLoad(postgres);
    const next = `${role}_b`;

    await sql(`CREATE ROLE ${next} LOGIN PASSWORD 'new' IN ROLE ${role}`);
    await sql(`ALTER ROLE ${next} SET role = ${role}`);
    address.url = as('new', next);
    await logged(lines, CHANGED);
    await expect.poll(() => count()).toBe(0);
    await sql(`ALTER ROLE ${role} NOLOGIN`);
    await sleep(300);

    const { errors } = await load.stop();
    expect(errors).toEqual([]);
    expect(await count(next)).toBeGreaterThan(0);
    expect(lines).toEqual([CHANGED]);
  });

  test('before the password of the role, which old and new connections use until then', async () => {
    const { role, sql, as, end } = await newDatabase();
    const { address, lines, postgres, size } = await openChanging(as('old'));

    address.url = as('new');
    await end(size);
    const load = startLoad(postgres);
    await logged(lines, 'the changed address');
    await sql(`ALTER ROLE ${role} PASSWORD 'new'`);
    await logged(lines, CHANGED);
    await sleep(300);

    const { errors } = await load.stop();
    expect(errors).toEqual([]);
    expect(lines.filter((line) => !/new connections/.test(line))).toEqual([
      `PostgreSQL cannot use the changed address for notes, and uses the previous one: password authentication failed for user "${role}"`,
      CHANGED,
    ]);
  });

  test('after the password of the role: calls use the connections that are open', async () => {
    const { role, sql, as, count, end } = await newDatabase();
    const { address, lines, postgres, size } = await openChanging(as('old'));

    await sql(`ALTER ROLE ${role} PASSWORD 'new'`);
    await end(size, 1);
    const load = startLoad(postgres);
    await logged(lines, 'rejects new connections');
    await sleep(2_500);
    const during = await count();
    address.url = as('new');
    await logged(lines, CHANGED);
    await expect.poll(() => count()).toBe(6);

    const { errors } = await load.stop();
    expect(errors).toEqual([]);
    expect(during).toBe(1);
    expect(lines).toEqual([
      `PostgreSQL rejects new connections for notes, and open ones are used: password authentication failed for user "${role}"`,
      ACCEPTED,
      CHANGED,
    ]);
  });

  test('while no connection is open', async () => {
    const { role, sql, as, end } = await newDatabase();
    const { address, lines, postgres, size } = await openChanging(as('old'));
    await sql(`ALTER ROLE ${role} PASSWORD 'new'`);
    address.url = as('new');
    await end(size);

    const load = startLoad(postgres);
    await logged(lines, CHANGED);
    await sleep(200);

    const { errors } = await load.stop();
    expect(errors).toEqual([]);
    expect(lines).toEqual([CHANGED]);
  });

  test('to a role that cannot use the tables, which is not used', async () => {
    const { role, sql, as, count } = await newDatabase();
    const { address, lines, postgres } = await openChanging(as('old'));
    const load = startLoad(postgres);

    await sql(`CREATE ROLE ${role}_b LOGIN PASSWORD 'new'`);
    address.url = as('new', `${role}_b`);
    await logged(lines, 'permission denied for table notes_migrations');
    await sleep(1_500);

    const { errors } = await load.stop();
    expect(errors).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(await count(`${role}_b`)).toBe(0);
  });
});

test('a password that is rejected without open connections is a 503 until it is corrected', async () => {
  const { role, sql, as, end } = await newDatabase();
  const { address, lines, postgres, size } = await openChanging(as('old'));
  await sql(`ALTER ROLE ${role} PASSWORD 'new'`);
  await end(size);

  const startedMs = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => postgres.query(LIST)));
  const tookMs = performance.now() - startedMs;
  address.url = as('new');
  const list = () => postgres.query(LIST).catch((error: unknown) => error);
  await expect.poll(list).toEqual([]);

  expect(outcomes).toMatchObject(Array(20).fill({ status: 'rejected', reason: unavailable }));
  expect(tookMs).toBeLessThan(5_000); // not the time limit of the queue
  expect(lines).toEqual([
    `PostgreSQL cannot be used for notes: password authentication failed for user "${role}"`,
    'PostgreSQL can be used again for notes',
  ]);
});

test('closing the database during a change leaves no connection', async () => {
  const { role, sql, as, count } = await newDatabase();
  const { address, postgres } = await openChanging(as('old'));
  const slow = postgres.query({ name: 'slow', text: 'SELECT pg_sleep(0.3)' });
  await sql(`ALTER ROLE ${role} PASSWORD 'new'`);

  address.url = as('new');
  void postgres.query(LIST);
  await Promise.all([slow, postgres.close()]);

  await expect.poll(() => count()).toBe(0);
});
