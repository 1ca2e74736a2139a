import { describe, expect, onTestFinished, test } from 'vitest';

import { type PoolMode, startPgbouncer } from '../../../../deploy/local/testing/pgbouncer.ts';
import { ADD, asAdmin, connectTo, LIST, NOTES, openNotes, unavailable } from '../fixtures/notes.ts';
import { recordLog } from '../testing/log.ts';
import { startPostgres } from '../testing/postgres.ts';
import { startTestPostgres } from '../testing/vitest.ts';

const SLEEP = { name: 'sleep', text: 'SELECT pg_sleep(60)' };

const server = startTestPostgres();

/** The number of statements that other connections run in the database. */
async function countRunning(url: string): Promise<unknown> {
  const others = "state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()";
  return (await asAdmin(url, `SELECT FROM pg_stat_activity WHERE ${others}`)).rowCount;
}

describe.each<[PoolMode]>([['session'], ['transaction']])(
  'through PgBouncer in %s mode',
  (poolMode) => {
    /** The addresses of a new database: its own, and through a new pooler. */
    async function newDatabase(settings: readonly string[] = []) {
      const url = await server().createDatabase();
      const pooler = await startPgbouncer(url, poolMode, settings);
      onTestFinished(() => pooler.stop());
      return { url, pooled: pooler.through(url) };
    }

    test('programs that start concurrently migrate once and run the same statements', async () => {
      const sizes = poolMode === 'transaction' ? ['default_pool_size = 2'] : [];
      const { pooled } = await newDatabase(sizes);
      const migrations = [...NOTES.migrations, "INSERT INTO notes VALUES (1000, 'once')"];
      const programs = [1, 2, 3].map(() => openNotes(pooled, { migrations, poolSize: 5 }));

      await Promise.all(
        Array.from({ length: 150 }, (_, at) => programs[at % 3]?.query(ADD, [at, `text ${at}`])),
      );
      const lists = await Promise.all(
        Array.from({ length: 30 }, (_, at) => programs[at % 3]?.query(LIST)),
      );

      expect(new Set(lists.map((rows) => rows?.length))).toEqual(new Set([151]));
      await expect(programs[0]?.check()).resolves.toBeUndefined();
    });

    test('a statement that exceeds its time limit ends on the server with 503', async () => {
      const { url, pooled } = await newDatabase();
      const postgres = openNotes(pooled, { statementTimeoutMs: 1_000, poolSize: 3 });
      await postgres.query(ADD, [1, 'one']);
      const holder = await connectTo(url);
      await holder.query('BEGIN; SELECT FROM notes FOR UPDATE');

      const outcomes = await Promise.allSettled([
        postgres.query(SLEEP),
        postgres.query({ name: 'touch', text: "UPDATE notes SET text = 'two'" }),
        postgres.transaction((query) => query(SLEEP), { timeoutMs: 500 }),
      ]);

      expect(outcomes).toMatchObject(Array(3).fill({ status: 'rejected', reason: unavailable }));
      await expect.poll(() => countRunning(url)).toBe(0);
      expect(await postgres.query(LIST)).toEqual([{ id: 1, text: 'one' }]);
    });

    test('a query whose signal aborts ends on the server, and the next one runs', async () => {
      const { url, pooled } = await newDatabase();
      const postgres = openNotes(pooled, { poolSize: 1 });
      await postgres.migrate();

      for (let times = 0; times < 5; times++) {
        const abort = new AbortController();
        const slow = postgres.query(SLEEP, [], { signal: abort.signal });
        await expect.poll(() => countRunning(url)).toBe(1);
        abort.abort(new Error('left'));
        await expect(slow).rejects.toThrow('left');
        expect(await postgres.query(LIST)).toEqual([]);
      }

      expect(await countRunning(url)).toBe(0);
    });

    test('settings apply to each statement, and not to other programs', async () => {
      const { pooled } = await newDatabase(['default_pool_size = 1']);
      const read = {
        name: 'read',
        text: `SELECT current_setting('statement_timeout') AS time,
          current_setting('idle_in_transaction_session_timeout') AS idle,
          current_setting('work_mem') AS memory, current_setting('test.text') AS text`,
      };
      const settings = { work_mem: '5MB', 'test.text': "it's" };
      const postgres = openNotes(pooled, { poolSize: 1, statementTimeoutMs: 12_345.5, settings });

      const single = await postgres.query(read);
      const long = await postgres.transaction((query) => query(read), { timeoutMs: 77_000 });
      await postgres.close();

      const expected = { time: '12346ms', idle: '10s', memory: '5MB', text: "it's" };
      expect(single).toEqual([expected]);
      expect(long).toEqual([{ ...expected, time: '77s' }]);
      const { rows } = await asAdmin(pooled, 'SHOW work_mem');
      expect(rows).toEqual([{ work_mem: '4MB' }]);
    });

    test('a call that gets no connection of a full pooler gets 503, and open ones continue', async () => {
      const { pooled } = await newDatabase(['max_client_conn = 1']);
      const { lines, logger } = recordLog();
      const postgres = openNotes(pooled, { poolSize: 2, logger });
      await postgres.migrate();

      const outcomes = await Promise.allSettled([postgres.query(LIST), postgres.query(LIST)]);

      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await postgres.query(LIST)).toEqual([]);
      expect(lines).toEqual([]);
    });
  },
);

test('calls through PgBouncer get 503 while the server is down, and recover with it', async () => {
  const own = await startPostgres();
  onTestFinished(() => own.stop());
  const pooler = await startPgbouncer(own.url, 'transaction', ['server_login_retry = 1']);
  onTestFinished(() => pooler.stop());
  const postgres = openNotes(pooler.through(own.url), { statementTimeoutMs: 4_000 });
  await postgres.query(ADD, [1, 'kept']);

  await own.kill();
  await expect(postgres.query(LIST)).rejects.toEqual(unavailable);
  await expect(postgres.query(LIST)).rejects.toEqual(unavailable);
  await own.restart();

  const list = () => postgres.query(LIST).catch((error: unknown) => error);
  await expect.poll(list, { timeout: 60_000 }).toEqual([{ id: 1, text: 'kept' }]);
});
