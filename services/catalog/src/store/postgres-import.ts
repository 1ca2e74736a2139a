import { randomUUID } from 'node:crypto';

import {
  openPostgres,
  type Postgres,
  type PostgresOptions,
  type Query,
} from '@fw/service/postgres';

import {
  type Batch,
  ImportRunningError,
  type ImportState,
  type ImportTarget,
  type Refusal,
} from '../import/target.ts';
import { nameKeyOf, wordsOfItem } from '../words.ts';
import { buildSteps } from './postgres-build.ts';
import { type Lock, takeLock } from './postgres-lock.ts';
import { MIGRATIONS, sql, tablesOf } from './postgres-tables.ts';

export type PostgresImportOptions = Omit<PostgresOptions, 'name' | 'migrations'>;

/**
 * Opens a PostgreSQL database for an import. The catalog comes to be in tables of its own beside the
 * present one's, and takes its place in one transaction.
 *
 * @throws {ImportRunningError} if another process imports into this database
 */
export async function openPostgresImport(options: PostgresImportOptions): Promise<ImportTarget> {
  // One connection holds the lock, the other works.
  const postgres = openPostgres({
    ...options,
    name: 'catalog',
    migrations: MIGRATIONS,
    poolSize: 2,
  });
  try {
    await postgres.migrate();
    const lock = await takeLock(postgres);
    if (!lock) throw new ImportRunningError();
    return createTarget(postgres, lock);
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

function createTarget(postgres: Postgres, lock: Lock): ImportTarget {
  const importer = randomUUID();
  let begun: number | undefined;

  /** All the time that it takes: whoever serves meanwhile is not held up. */
  function transact<T>(work: (query: Query) => Promise<T>): Promise<T> {
    lock.expectHeld();
    return postgres.transaction(work, { timeoutMs: Number.POSITIVE_INFINITY });
  }

  async function begin(): Promise<number> {
    begun ??= await transact((query) => beginImport(query, importer));
    return begun;
  }

  return {
    async readState() {
      await begin();
      return postgres.query(READ_STATE).then(([row]) => toState(row));
    },
    async startOver() {
      begun = undefined;
      await transact(clear);
      await begin();
    },
    async append(batch) {
      const number = await begin();
      return transact((query) => append(query, { number, importer, batch }));
    },
    async refusals({ after, limit }) {
      const rows = await postgres.query(READ_REFUSALS, [after, limit]);
      return rows.map((row): Refusal => ({ line: Number(row.line), reason: String(row.reason) }));
    },
    async *finish(version) {
      const number = await begin();
      const steps = buildSteps(tablesOf(number));
      const [row] = await postgres.query(READ_STEPS);
      for (const [at, { name, text }] of steps.entries()) {
        if (at < Number(row?.steps)) continue;
        yield { name, done: at / steps.length };
        await transact(async (query) => {
          await query(sql(text));
          await advance(query, importer, ADVANCE_STEPS, [at + 1]);
        });
      }
      await transact((query) => publish(query, { number, importer, version }));
      begun = undefined;
      yield { name: 'done', done: 1 };
    },
    async close() {
      await lock.release();
      await postgres.close();
    },
  };
}

const READ_STATE = sql('SELECT checkpoint, items, refused FROM catalog_import');
const READ_STEPS = sql('SELECT steps FROM catalog_import');
const READ_PRESENT = sql('SELECT number FROM catalog_present');
const READ_REFUSALS = sql(
  'SELECT line, reason FROM catalog_refused WHERE line > $1 ORDER BY line LIMIT $2',
);
const TAKE_OVER = sql('UPDATE catalog_import SET importer = $1 RETURNING number');
const ADVANCE_ROWS = sql(
  `UPDATE catalog_import SET checkpoint = $2, items = items + $3, refused = refused + $4
   WHERE importer = $1 RETURNING checkpoint, items, refused`,
);
const ADVANCE_STEPS = sql(
  'UPDATE catalog_import SET steps = $2 WHERE importer = $1 RETURNING checkpoint, items, refused',
);
const INSERT_REFUSALS = sql(
  `INSERT INTO catalog_refused SELECT * FROM unnest($1::bigint[], $2::text[])
   ON CONFLICT DO NOTHING RETURNING line`,
);

/** Goes on with the import that was begun, or begins one. */
async function beginImport(query: Query, importer: string): Promise<number> {
  const [taken] = await query(TAKE_OVER, [importer]);
  if (taken) return Number(taken.number);
  await clear(query);
  const [present] = await query(READ_PRESENT);
  const number = Number(present?.number ?? 0) + 1;
  await query(
    sql(
      `CREATE TABLE ${tablesOf(number).staged} (
         id          bigint PRIMARY KEY,
         name        text NOT NULL,
         name_key    text NOT NULL,
         category    text NOT NULL,
         brand       text NOT NULL,
         price_cents bigint NOT NULL,
         currency    text NOT NULL,
         description text NOT NULL,
         tags        text NOT NULL, -- a JSON array
         words       text NOT NULL
       )`,
    ),
  );
  await query(sql('INSERT INTO catalog_import (number, importer) VALUES ($1, $2)'), [
    number,
    importer,
  ]);
  return number;
}

/** Removes all but the present catalog. */
async function clear(query: Query): Promise<void> {
  await query(sql('DELETE FROM catalog_import'));
  await query(sql('DELETE FROM catalog_refused'));
  const [present] = await query(READ_PRESENT);
  const tables = await query(LIST_TABLES, [String(present?.number ?? 0)]);
  for (const { name } of tables) await query(sql(`DROP TABLE IF EXISTS ${String(name)}`));
}

const LIST_TABLES = sql(
  `SELECT quote_ident(relname) AS name FROM pg_class
   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
     AND relname ~ '^catalog_(staged|items|facets|figures)_[0-9]+$'
     AND substring(relname from '[0-9]+$') <> $1`,
);

/** @throws {ImportRunningError} if somebody else has taken over since */
async function advance(
  query: Query,
  importer: string,
  statement: typeof ADVANCE_STEPS,
  values: readonly unknown[],
): Promise<ImportState> {
  const [row] = await query(statement, [importer, ...values]);
  if (!row) throw new ImportRunningError();
  return toState(row);
}

async function append(
  query: Query,
  { number, importer, batch }: { number: number; importer: string; batch: Batch },
): Promise<ImportState> {
  const kept = await insertItems(query, number, batch);
  const refusals = [...batch.refusals];
  for (const { line, item } of batch.items) {
    // Of an id that stands twice in the batch the first is kept.
    if (!kept.delete(item.id)) refusals.push({ line, reason: 'id stands in the file already' });
  }
  const inserted = await query(INSERT_REFUSALS, [
    refusals.map(({ line }) => line),
    refusals.map(({ reason }) => reason),
  ]);
  const items = batch.items.length - (refusals.length - batch.refusals.length);
  return advance(query, importer, ADVANCE_ROWS, [batch.checkpoint, items, inserted.length]);
}

/** Resolves with the ids that were not there yet. */
async function insertItems(query: Query, number: number, { items }: Batch): Promise<Set<number>> {
  const rows = await query(
    sql(
      `INSERT INTO ${tablesOf(number).staged}
       SELECT * FROM unnest(
         $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
         $8::text[], $9::text[], $10::text[]
       ) ON CONFLICT DO NOTHING RETURNING id`,
    ),
    [
      items.map(({ item }) => item.id),
      items.map(({ item }) => item.name),
      items.map(({ item }) => nameKeyOf(item.name)),
      items.map(({ item }) => item.category),
      items.map(({ item }) => item.brand),
      items.map(({ item }) => item.priceCents),
      items.map(({ item }) => item.currency),
      items.map(({ item }) => item.description),
      items.map(({ item }) => JSON.stringify(item.tags)),
      items.map(({ item }) => wordsOfItem(item).join(' ')),
    ],
  );
  return new Set(rows.map(({ id }) => Number(id)));
}

async function publish(
  query: Query,
  { number, importer, version }: { number: number; importer: string; version: string },
): Promise<void> {
  const { items } = await advance(query, importer, ADVANCE_STEPS, [0]);
  await query(sql('DELETE FROM catalog_present'));
  await query(sql('INSERT INTO catalog_present VALUES ($1, $2, $3)'), [number, version, items]);
  await query(sql(`DROP TABLE ${tablesOf(number).staged}`));
  await clear(query);
}

function toState(row: Readonly<Record<string, unknown>> | undefined): ImportState {
  return {
    ...(typeof row?.checkpoint === 'string' && { checkpoint: row.checkpoint }),
    items: Number(row?.items),
    refused: Number(row?.refused),
  };
}
