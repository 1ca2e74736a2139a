import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceUnavailableError } from 'fw';
import { describe, expect, onTestFinished, test } from 'vitest';

import { ADD, asAdmin, connectTo, LIST, NOTES, openNotes, unavailable } from '../fixtures/notes.ts';
import { recordLog } from '../testing/log.ts';
import { requirePasswords } from '../testing/passwords.ts';
import { startPostgres } from '../testing/postgres.ts';
import { newFolder, startTestPostgres } from '../testing/vitest.ts';
import { openPostgres, type Postgres, type PostgresOptions } from './postgres.ts';

const END_OTHERS =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
const CONNECTION = { name: 'connection', text: 'SELECT pg_backend_pid() AS pid' };

const server = startTestPostgres();

async function open(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  return openNotes(options.url ?? (await server().createDatabase()), options);
}

async function countRunning(url: string, text: string): Promise<number> {
  const condition = `state = 'active' AND query = '${text}'`;
  return (await asAdmin(url, `SELECT FROM pg_stat_activity WHERE ${condition}`)).rowCount ?? 0;
}

test('connections authenticate with the password of the URL', async () => {
  const url = await server().createDatabase();
  const [role, password] = [`role_${process.pid}`, 'secret'];
  await asAdmin(url, `CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD '${password}'`);
  await requirePasswords(url);
  const as = (credentials: string) => url.replace('postgres@', `${credentials}@`);

  const right = await open({ url: as(`${role}:${password}`) });
  const wrong = await open({ url: as(`${role}:other`) });

  await expect(right.query(LIST)).resolves.toEqual([]);
  await expect(wrong.query(LIST)).rejects.toThrow('password authentication failed');
});

test('tables of the newest version are used while another program migrates', async () => {
  const url = await server().createDatabase();
  await (await open({ url })).migrate();
  const other = await connectTo(url);
  await other.query("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('notes_migrations', 0))");

  expect(await (await open({ url })).query(LIST)).toEqual([]);
});

test('a migration that waits too long for a lock is a 503 that names it', async () => {
  const url = await server().createDatabase();
  await (await open({ url })).migrate();
  const holder = await connectTo(url);
  await holder.query('BEGIN; LOCK TABLE notes');
  const text = "SET LOCAL lock_timeout = '10ms'; ALTER TABLE notes ADD COLUMN x int";

  const { migrate } = await open({ url, migrations: [...NOTES.migrations, text] });

  const error = await migrate().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ServiceUnavailableError);
  expect(String(error)).toContain('migration 2 failed at "ALTER TABLE notes ADD COLUMN x int"');
});

test.each([
  ['closed its connections', END_OTHERS],
  ['kept its connections', 'SELECT 1'], // a pooler does
])('tables that are missing after a restart that %s are created again', async (_, end) => {
  const url = await server().createDatabase();
  const postgres = await open({ url });
  await postgres.query(ADD, [1, 'lost']);

  await asAdmin(url, 'DROP TABLE notes, notes_migrations');
  await asAdmin(url, end);

  await expect.poll(() => postgres.query(LIST).catch(() => 'not yet')).toEqual([]);
});

test('a transaction commits all of its work, or nothing if the work throws', async () => {
  const postgres = await open();
  await postgres.transaction(async (query) => {
    await query(ADD, [1, 'one']);
    await query(ADD, [2, 'two']);
  });

  const half = postgres.transaction(async (query) => {
    await query(ADD, [3, 'half']);
    throw new Error('the other half');
  });
  await expect(half).rejects.toThrow('the other half');
  const swallowed = postgres.transaction(async (query) => {
    await query(ADD, [1, 'taken']).catch(() => {});
  });
  await expect(swallowed).rejects.toThrow('Cannot commit');

  expect(await postgres.query(LIST)).toHaveLength(2);
});

test('a check opens the connections of the first requests, at most the pool size', async () => {
  const url = await server().createDatabase();
  const connectionsOf = async (poolSize: number) => {
    const watched: (() => object)[] = [];
    const metrics = { watchPool: (_: string, read: () => object) => void watched.push(read) };
    const postgres = await open({ url, poolSize, metrics });
    await postgres.check();
    return watched[0]?.();
  };

  expect(await connectionsOf(10)).toMatchObject({ size: 4, idle: 4 });
  expect(await connectionsOf(2)).toMatchObject({ size: 2, idle: 2 });
});

test('a failed statement keeps its connection', async () => {
  const postgres = await open({ poolSize: 1 });
  const [before] = await postgres.query(CONNECTION);
  await postgres.query(ADD, [1, 'one']);

  await expect(postgres.query(ADD, [1, 'taken'])).rejects.toMatchObject({ code: '23505' });

  expect(await postgres.query(CONNECTION)).toEqual([before]);
});

test('calls on open connections are served when the server accepts no further connection', async () => {
  const own = await startPostgres({
    settings: { max_connections: '4', superuser_reserved_connections: '0', max_wal_senders: '0' },
  });
  onTestFinished(() => own.stop());
  const { lines, logger } = recordLog();
  const postgres = await open({ url: own.url, poolSize: 2, logger });
  await postgres.query(LIST);
  for (let others = 0; others < 3; others++) await connectTo(own.url);

  const outcomes = await Promise.allSettled([postgres.query(LIST), postgres.query(LIST)]);

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await postgres.query(LIST)).toEqual([]);
  await expect(postgres.check()).resolves.toBeUndefined();
  expect(lines).toEqual([]);
});

describe('a certificate file of the address', () => {
  function newCertificate() {
    const file = join(newFolder(), 'ca.pem');
    return { file, query: `?sslmode=disable&sslrootcert=${encodeURIComponent(file)}` };
  }

  test.each([
    ['is missing', 'ENOENT', () => {}],
    ['is a directory', 'EISDIR', mkdirSync],
  ])('is named by the error of openPostgres if it %s', (_, reason, create) => {
    const { file, query } = newCertificate();
    create(file);

    const start = () => openPostgres({ ...NOTES, url: `postgres://127.0.0.1/postgres${query}` });

    expect(start).toThrow(`Cannot read the file "${file}" that DATABASE_URL names: ${reason}`);
  });

  test('prolongs an outage while it is missing, and is logged once', async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const { file, query } = newCertificate();
    writeFileSync(file, '');
    const { lines, logger } = recordLog();
    const postgres = await open({ url: `${own.url}${query}`, logger, poolSize: 2 });
    await Promise.all([postgres.query(LIST), postgres.query(LIST)]);

    rmSync(file);
    await postgres.query(LIST); // connections of the same pool work without it
    await own.kill();
    const fails = () => expect(postgres.query(LIST)).rejects.toMatchObject({ status: 503 });
    const linesOfFailure = () => fails().then(() => lines.length);
    await expect.poll(linesOfFailure).toBe(1);
    await own.restart();
    await expect.poll(linesOfFailure).toBe(2);
    writeFileSync(file, '');
    await firstSuccess(() => postgres.query(LIST));

    expect(lines[1]).toContain(`cannot be used for notes: Cannot read the file "${file}"`);
    expect(lines.slice(2)).toEqual(['PostgreSQL can be used again for notes']);
  });
});

test('a deadlock is resolved by repeating the transaction', async () => {
  const postgres = await open();
  await postgres.query(ADD, [1, '']);
  await postgres.query(ADD, [2, '']);
  const append = {
    name: 'append',
    text: "UPDATE notes SET text = text || 'x' WHERE id = $1",
  };
  const both = (first: number, second: number) =>
    postgres.transaction(async (query) => {
      await query(append, [first]);
      await sleep(50);
      await query(append, [second]);
    });

  await Promise.all([both(1, 2), both(2, 1)]);

  expect(await postgres.query(LIST)).toEqual([
    { id: 1, text: 'xx' },
    { id: 2, text: 'xx' },
  ]);
});

// Each time limit is far below the duration of the wrong behaviour.
describe('a ServiceUnavailableError with Retry-After', () => {
  test('rejects a statement that exceeds its time limit, and no other call', async () => {
    const postgres = await open({ statementTimeoutMs: 1_000, poolSize: 2 });
    await postgres.migrate();

    const slow = postgres.query({ name: 'slow', text: 'SELECT pg_sleep(30)' });

    await expect(slow).rejects.toEqual(unavailable);
    await expect(postgres.check()).resolves.toBeUndefined();
  });

  test('rejects calls that wait too long for a connection, while running ones continue', async () => {
    const postgres = await open({ waitTimeoutMs: 300, poolSize: 1 });
    await postgres.migrate();

    const sleeps = { name: 'slow', text: 'SELECT pg_sleep(3)' };
    const slow = postgres.transaction((query) => query(sleeps), { timeoutMs: 30_000 });

    await expect(postgres.query(LIST)).rejects.toEqual(unavailable);
    await expect(slow).resolves.toHaveLength(1);
    await expect(postgres.query(LIST)).resolves.toEqual([]);
  });

  test('rejects calls whose connections are closed; the next calls open new ones', async () => {
    const url = await server().createDatabase();
    const postgres = await open({ url });
    await postgres.query(LIST);
    const sleeping = postgres.query({ name: 'slow', text: 'SELECT pg_sleep(4)' });
    const rejected = sleeping.catch((error: unknown) => error);
    await sleep(50);

    await asAdmin(url, END_OTHERS);

    expect(await rejected).toEqual(unavailable);
    await expect.poll(() => postgres.query(LIST).catch(() => 'not yet')).toEqual([]);
  });

  test('rejects every call while the server is down, also at the start, until it recovers', async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const { lines, logger } = recordLog();
    await own.kill();
    const postgres = await open({ url: own.url, logger });

    const first = await timed(() => postgres.query(LIST));
    const second = await timed(() => postgres.check());
    await own.restart();
    await firstSuccess(() => postgres.query(LIST));
    await own.kill();
    // One of the two may use a connection that has just closed, which is no evidence of an outage.
    const third = await timed(() => postgres.query(LIST));
    const fourth = await timed(() => postgres.query(LIST));
    await own.restart();
    await firstSuccess(() => postgres.query(LIST));

    for (const { error, tookMs } of [first, second, third, fourth]) {
      expect(error).toBeInstanceOf(ServiceUnavailableError);
      expect(error).toEqual(unavailable);
      expect(tookMs).toBeLessThan(4_000); // not until the statement time limit of 5 s
    }
    expect(String(first.error)).toContain('ECONNREFUSED');
    expect(String(second.error)).toBe(String(first.error));
    expect(lines.map((line) => line.replace(/:.*/, ''))).toEqual([
      'PostgreSQL cannot be used for notes',
      'PostgreSQL can be used again for notes',
      'PostgreSQL cannot be used for notes',
      'PostgreSQL can be used again for notes',
    ]);
  });

  test('rejects every call while the server sends nothing, and recovers on new connections', async () => {
    const proxy = await startProxy(await server().createDatabase());
    // An attempt each 500 ms: a smaller pool would be full of attempts that the proxy drops.
    const limits = { statementTimeoutMs: 4_000, waitTimeoutMs: 60_000, poolSize: 8 };
    const postgres = await open({ url: proxy.url, ...limits });
    await postgres.query(LIST);

    proxy.drop();
    const calls = Array.from({ length: 20 }, () => timed(() => postgres.query(LIST)));
    const during = await Promise.all(calls);
    const later = await timed(() => postgres.check());
    const failing = setInterval(() => void postgres.query(LIST).catch(() => {}), 50);
    await sleep(1_500);
    clearInterval(failing);
    proxy.forward();
    const recovery = await timed(() => firstSuccess(() => postgres.query(LIST)));

    for (const { error, tookMs } of [...during, later]) {
      expect(error).toEqual(unavailable);
      expect(String(error)).toMatch(/no (response|connection) within the time limit/);
      expect(tookMs).toBeLessThan(20_000); // all after 4 s, not one after the other
    }
    expect(later.tookMs).toBeLessThan(3_000); // immediately
    expect(recovery.tookMs).toBeLessThan(3_000); // not until the attempts in progress time out
  });

  test('rejects a call whose connection alone is dropped, while other connections respond', async () => {
    const proxy = await startProxy(await server().createDatabase());
    const { lines, logger } = recordLog();
    const postgres = await open({ url: proxy.url, statementTimeoutMs: 1_000, poolSize: 2, logger });
    await postgres.query(LIST);

    proxy.drop();
    const dropped = timed(() => postgres.query(LIST));
    proxy.forward();
    for (let calls = 0; calls < 5; calls++) {
      await sleep(100);
      expect(await postgres.query(LIST)).toEqual([]);
    }

    expect((await dropped).error).toEqual(unavailable);
    expect(lines).toEqual([]);
  });

  test('rejects the first call if the server sends nothing from the start', async () => {
    const proxy = await startProxy(await server().createDatabase());
    proxy.drop();
    const limits = { statementTimeoutMs: 1_000, waitTimeoutMs: 60_000 };
    const postgres = await open({ url: proxy.url, ...limits });

    const { error, tookMs } = await timed(() => postgres.query(LIST));

    expect(error).toEqual(unavailable);
    expect(String(error)).toContain('no connection within the time limit');
    expect(tookMs).toBeLessThan(15_000); // the statement time limit, not the wait of 60 s
  });
});

test('a query whose signal aborts ends on the server and keeps its connection', async () => {
  const postgres = await open({ poolSize: 1 });
  const [before] = await postgres.query(CONNECTION);
  const abort = new AbortController();
  const { signal } = abort;
  const slow = postgres.query({ name: 'slow', text: 'SELECT pg_sleep(60)' }, [], { signal });
  await expect.poll(() => countRunning(server().url, 'SELECT pg_sleep(60)')).toBe(1);

  abort.abort(new Error('left'));

  await expect(slow).rejects.toThrow('left');
  await expect(postgres.query(CONNECTION, [], { signal })).rejects.toThrow('left');
  expect(await countRunning(server().url, 'SELECT pg_sleep(60)')).toBe(0);
  expect(await postgres.query(CONNECTION)).toEqual([before]);
});

test('a query whose signal aborts while it waits for a connection rejects at once', async () => {
  const postgres = await open({ poolSize: 1 });
  const [before] = await postgres.query(CONNECTION);
  const [first, second] = [new AbortController(), new AbortController()];
  const running = { name: 'slow', text: 'SELECT pg_sleep(61)' };
  const slow = postgres.query(running, [], { signal: first.signal });
  await expect.poll(() => countRunning(server().url, running.text)).toBe(1);
  const waiting = postgres.query(CONNECTION, [], { signal: second.signal });

  second.abort(new Error('left'));

  await expect(waiting).rejects.toThrow('left');
  expect(await countRunning(server().url, running.text)).toBe(1);
  first.abort(new Error('left, too'));
  await expect(slow).rejects.toThrow('left, too');
  expect(await postgres.query(CONNECTION)).toEqual([before]);
});

test('a query whose signal aborts before the server has the statement ends, too', async () => {
  const address = new URL(server().url);
  const { hostname, port } = address;
  const abort = new AbortController();
  const requested = Promise.withResolvers<void>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname).on('close', () => client.destroy());
    upstream.on('error', () => {}).pipe(client);
    client.on('error', () => {}).on('close', () => upstream.destroy());
    client.on('data', async (chunk) => {
      if (chunk.includes('pg_sleep')) {
        abort.abort(new Error('left'));
        await requested.promise;
      }
      upstream.write(chunk);
      const isCancelRequest = chunk.length === 16;
      if (isCancelRequest) upstream.on('close', () => requested.resolve());
    });
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void proxy.close());
  address.port = String((proxy.address() as AddressInfo).port);
  const postgres = await open({ url: address.href, statementTimeoutMs: 60_000 });
  const { signal } = abort;

  const slow = postgres.query({ name: 'late', text: 'SELECT pg_sleep(50)' }, [], { signal });

  await expect(slow).rejects.toThrow('left');
  expect(await countRunning(server().url, 'SELECT pg_sleep(50)')).toBe(0);
});

test('a closed database rejects calls', async () => {
  const postgres = await open();
  await postgres.query(LIST);

  await postgres.close();

  await expect(postgres.query(LIST)).rejects.toThrow(
    new RangeError('Cannot query notes: PostgreSQL is closed'),
  );
});

test('closing does not wait for a server that sends nothing', async () => {
  const proxy = await startProxy(await server().createDatabase());
  const postgres = await open({ url: proxy.url });
  await postgres.query(LIST);
  proxy.drop();

  const { tookMs } = await timed(() => postgres.close());

  expect(tookMs).toBeLessThan(10_000);
});

test('a name that cannot be part of the name of a table is rejected', async () => {
  const postgres = await open({ name: 'notes; DROP' });

  await expect(postgres.migrate()).rejects.toThrow(RangeError);
});

async function timed(work: () => Promise<unknown>): Promise<{ error: unknown; tookMs: number }> {
  const startedMs = performance.now();
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, tookMs: performance.now() - startedMs };
}

/** Runs `work` until it succeeds; throws its last error after 20 s. */
async function firstSuccess(work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const { error } = await timed(work);
    if (error === undefined) return;
    if (performance.now() - startedMs > 20_000) throw error;
    await sleep(10);
  }
}

interface Proxy {
  readonly url: string;
  /** Drops all data. `forward` does not apply to connections that are open now. */
  drop(): void;
  /** Forwards the data of new connections again. */
  forward(): void;
}

/** Starts a proxy of the database at `url`. */
async function startProxy(url: string): Promise<Proxy> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const dropped = new Set<Socket>();
  let isDropping = false;
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(client, upstream);
    if (isDropping) dropped.add(client);
    client.on('error', () => {}).pipe(upstream);
    upstream
      .on('error', () => {})
      .on('data', (octets) => void (dropped.has(client) || client.write(octets)));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    url: url.replace(`:${port}/`, `:${(proxy.address() as AddressInfo).port}/`),
    drop() {
      isDropping = true;
      for (const socket of sockets) dropped.add(socket);
    },
    forward() {
      isDropping = false;
    },
  };
}
