import type { DatabaseSync } from 'node:sqlite';
import { quiet, request } from '@fw/core/testing';
import { createRouter, type Router } from 'fw';
import { expect, onTestFinished, test } from 'vitest';
import { createServiceApp } from '../app/service-app.ts';
import { createBatch, openPostgres } from '../postgres/postgres.ts';
import { createGroupCommit, openDatabase } from '../sqlite/sqlite.ts';
import { startCollector } from '../testing/collector.ts';
import { startTestPostgres } from '../testing/vitest.ts';
import { createTracing, readStatementName } from './otlp.ts';

const server = startTestPostgres();

const NOTES = {
  applicationId: 0x6e6f7465,
  migrations: ['CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT'],
};

/** Starts a service with tracing; `finish` resolves with its statements. */
async function startService(createRoutes: () => Router) {
  const collector = await startCollector();
  onTestFinished(collector.stop);
  const tracing = createTracing({ service: 'notes', endpoint: collector.url });
  const app = createServiceApp({ tracing, logger: quiet }).route('/', createRoutes());
  return {
    get: (target: string) => request(app, target),
    async finish() {
      await tracing.close();
      const requests = collector.spans().filter(({ kind }) => kind === 2);
      const all = collector.spans().filter(({ attributes }) => 'db.system.name' in attributes);
      return requests.map(({ spanId, traceId }) =>
        all.filter((span) => span.parentSpanId === spanId && span.traceId === traceId),
      );
    },
  };
}

function openNotes(): DatabaseSync {
  const database = openDatabase(':memory:', NOTES);
  onTestFinished(() => database.close());
  return database;
}

test('a statement on SQLite is a client span of its request, without its values', async () => {
  const service = await startService(() => {
    const find = openNotes().prepare('SELECT text FROM notes WHERE text = ?');
    return createRouter().get('/:text', (ctx) =>
      ctx.json({ row: find.get(ctx.params.text) ?? null }),
    );
  });

  await service.get('/secret');
  const [spans] = await service.finish();

  expect(spans).toMatchObject([
    {
      name: 'SELECT notes',
      kind: 3,
      status: { code: 0 },
      attributes: {
        'db.system.name': 'sqlite',
        'db.operation.name': 'SELECT',
        'db.query.summary': 'SELECT notes',
        'db.collection.name': 'notes',
      },
    },
  ]);
  expect(JSON.stringify(spans)).not.toContain('secret');
});

test('a failed statement has the result code of SQLite, without a message', async () => {
  const service = await startService(() => {
    const insert = openNotes().prepare('INSERT INTO notes VALUES (?)');
    return createRouter().get('/:text', (ctx) => {
      insert.run(ctx.params.text);
      ctx.json(insert.run(ctx.params.text));
    });
  });

  await service.get('/twice');
  const [[created, failed] = []] = await service.finish();

  expect(created).toMatchObject({ name: 'INSERT notes', status: { code: 0 } });
  expect(failed?.status).toEqual({ code: 2 });
  // SQLITE_CONSTRAINT_PRIMARYKEY
  expect(failed?.attributes).toMatchObject({
    'db.response.status_code': '1555',
    'error.type': '1555',
  });
});

test('requests whose writes are committed together have a span of the common commit each', async () => {
  const service = await startService(() => {
    const database = openNotes();
    const { write } = createGroupCommit(database);
    const insert = database.prepare('INSERT INTO notes VALUES (?)');
    return createRouter().get('/:text', async (ctx) => {
      await write(() => insert.run(ctx.params.text));
      ctx.status = 204;
    });
  });

  await Promise.all(['/a', '/b', '/c'].map(service.get));
  const traces = await service.finish();

  const names = ['BEGIN', 'SAVEPOINT', 'INSERT notes', 'RELEASE', 'COMMIT'];
  expect(traces.map((spans) => spans.map(({ name }) => name))).toEqual([names, names, names]);
  const sizes = traces.map((spans) =>
    spans.map((span) => span.attributes['db.operation.batch.size']),
  );
  for (const [begin, save, insert, release, commit] of sizes) {
    expect(commit).toBe(begin);
    expect([save, insert, release]).toEqual([undefined, undefined, undefined]);
  }
  expect(sizes[2]?.[0]).toBeGreaterThan(1);
});

test('statements on PostgreSQL are client spans of their requests, combined ones of each', async () => {
  const url = await server().createDatabase();
  const service = await startService(() => {
    const { query, transaction, close } = openPostgres({
      url,
      name: 'notes',
      migrations: ['CREATE TABLE notes (text text PRIMARY KEY)'],
    });
    onTestFinished(close);
    const find = createBatch(async (texts: readonly string[]) => {
      const text = 'SELECT text FROM notes WHERE text = ANY ($1)';
      await query({ name: 'find', text }, [texts]);
      return texts;
    });
    return createRouter()
      .get('/find/:text', async (ctx) => ctx.json(await find(ctx.params.text)))
      .get('/twice/:text', (ctx) =>
        transaction(async (run) => {
          const insert = { name: 'insert', text: 'INSERT INTO notes VALUES ($1)' };
          await run(insert, [ctx.params.text]);
          await run(insert, [ctx.params.text]);
        }),
      );
  });

  await service.get('/find/migrates');
  await service.get('/twice/secret');
  await Promise.all(['/find/a', '/find/b'].map(service.get));
  const [, twice, ...found] = await service.finish();

  expect(twice?.map(({ name, status }) => [name, status.code])).toEqual([
    ['BEGIN', 0],
    ['INSERT notes', 0],
    ['INSERT notes', 2],
    ['ROLLBACK', 0],
  ]);
  expect(twice?.[2]?.attributes).toEqual({
    'db.system.name': 'postgresql',
    'db.namespace': new URL(url).pathname.slice(1),
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(url).port),
    'db.operation.name': 'INSERT',
    'db.query.summary': 'INSERT notes',
    'db.collection.name': 'notes',
    'db.response.status_code': '23505',
    'error.type': '23505',
  });
  expect(found).toHaveLength(2);
  for (const [span, ...more] of found) {
    expect(span).toMatchObject({
      name: 'SELECT notes',
      attributes: { 'db.operation.batch.size': 2 },
    });
    expect(more).toEqual([]);
  }
});

test.each([
  ['SELECT name FROM users WHERE id = ?', 'SELECT', 'users'],
  ['  select 1', 'SELECT', undefined],
  ['SELECT * FROM unnest($1::text[]) JOIN users USING (id)', 'SELECT', undefined],
  ['SELECT total FROM (SELECT count(*) AS total FROM users) AS counted', 'SELECT', 'users'],
  ['SELECT id FROM users FOR UPDATE SKIP LOCKED', 'SELECT', 'users'],
  ['WITH old AS (SELECT id FROM users) SELECT id FROM old', 'SELECT', 'users'],
  ['WITH new AS (SELECT 1) INSERT INTO users SELECT * FROM new', 'INSERT', 'users'],
  ['INSERT INTO users (id) VALUES (?) ON CONFLICT DO UPDATE SET id = 1', 'INSERT', 'users'],
  ['INSERT OR REPLACE INTO "idempotency" VALUES (?)', 'INSERT', '"idempotency"'],
  ['UPDATE users SET name = ? WHERE id = ?', 'UPDATE', 'users'],
  ['DELETE FROM public.users WHERE id = $1', 'DELETE', 'public.users'],
  ['BEGIN; SET LOCAL statement_timeout = 5000', 'BEGIN', undefined],
  ['BEGIN IMMEDIATE', 'BEGIN', undefined],
  ['COMMIT', 'COMMIT', undefined],
  ['', '', undefined],
])('%s is %s of %s', (text, operation, table) => {
  expect(readStatementName(text)).toEqual({ operation, table });
});
