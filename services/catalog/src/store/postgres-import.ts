import { openPostgres, type Query } from '@fw/service/postgres';

import {
  ImportRunningError,
  type NumberedItem,
  type ReplaceCatalog,
  type ReplaceOptions,
  runSteps,
} from '../store.ts';
import { nameKeyOf, wordsOfItem } from '../words.ts';
import type { PostgresCatalogOptions } from './postgres.ts';
import { MIGRATIONS, sql, type Tables, tablesOf } from './postgres-migrations.ts';

const TRY_LOCK = sql("SELECT pg_try_advisory_xact_lock(hashtext('catalog import')) AS is_locked");
const READ_NUMBER = sql('SELECT coalesce(max(number), 0) AS number FROM catalog_present');
const LIST_TABLES = sql(
  `SELECT quote_ident(relname) AS name FROM pg_class
   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
     AND relname ~ '^catalog_(staged|items|facets|figures)_[0-9]+$'
     AND substring(relname from '[0-9]+$') <> $1`,
);

/** Creates the import into a PostgreSQL database. */
export function createPostgresImport(options: PostgresCatalogOptions): ReplaceCatalog {
  return async (replaceOptions) => {
    const postgres = openPostgres({
      ...options,
      name: 'catalog',
      migrations: MIGRATIONS,
      poolSize: 1,
    });
    try {
      return await postgres.transaction((query) => replaceCatalog(query, replaceOptions), {
        timeoutMs: Number.POSITIVE_INFINITY,
      });
    } finally {
      await postgres.close();
    }
  };
}

async function replaceCatalog(
  query: Query,
  { fill, onIndexing }: ReplaceOptions,
): Promise<boolean> {
  const [lock] = await query(TRY_LOCK);
  if (lock?.is_locked !== true) throw new ImportRunningError();
  // No limit, because the next lines of a pipe may arrive at any time.
  await query(sql('SET LOCAL idle_in_transaction_session_timeout = 0'));
  const [present] = await query(READ_NUMBER);
  const before = Number(present?.number);
  await dropCatalogs(query, before);
  const number = before + 1;
  const tables = tablesOf(number);
  await createStagingTable(query, tables);

  const version = await fill((items) => addItems(query, tables, items));
  if (version !== undefined) {
    const statements = indexStatements(tables);
    await runSteps(
      statements.map((text) => () => query(sql(text))),
      onIndexing,
    );
    await query(sql('DELETE FROM catalog_present'));
    await query(sql(`INSERT INTO catalog_present SELECT $1, $2, count(*) FROM ${tables.items}`), [
      number,
      version,
    ]);
  }
  await query(sql(`DROP TABLE ${tables.staged}`));
  // The last statement: readers of the old tables wait from here to the end of the transaction.
  if (version !== undefined) await dropCatalogs(query, number);
  return version !== undefined;
}

/** Drops the tables of every catalog but one. */
async function dropCatalogs(query: Query, keep: number): Promise<void> {
  const tables = await query(LIST_TABLES, [String(keep)]);
  if (tables.length === 0) return;
  await query(sql(`DROP TABLE ${tables.map(({ name }) => String(name)).join(', ')}`));
}

/** Creates the table of unordered items. It is unlogged, because it is dropped in the same transaction. */
async function createStagingTable(query: Query, { staged }: Tables): Promise<void> {
  await query(
    sql(
      `CREATE UNLOGGED TABLE ${staged} (
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
}

async function addItems(
  query: Query,
  { staged }: Tables,
  items: readonly NumberedItem[],
): Promise<readonly NumberedItem[]> {
  const rows = items.map(({ item: { priceCents, tags, ...item } }) => ({
    ...item,
    name_key: nameKeyOf(item.name),
    price_cents: priceCents,
    tags: JSON.stringify(tags),
    words: wordsOfItem({ ...item, priceCents, tags }).join(' '),
  }));
  const inserted = await query(
    sql(
      `INSERT INTO ${staged} SELECT * FROM json_populate_recordset(NULL::${staged}, $1)
       ON CONFLICT DO NOTHING RETURNING id`,
    ),
    [JSON.stringify(rows)],
  );
  const ids = new Set(inserted.map(({ id }) => Number(id)));
  // The first of two items with the same id is inserted.
  return items.filter(({ item }) => !ids.delete(item.id));
}

/** The statements that create the tables and indexes for readers from the staging table. */
function indexStatements({ staged, items, facets, figures }: Tables): readonly string[] {
  const columns = [
    '(position)',
    '(name_key, id)',
    '(price_cents, id)',
    ...['category', 'brand'].flatMap((facet) => [
      `(${facet}, id)`,
      `(${facet}, name_key, id)`,
      `(${facet}, price_cents, id)`,
    ]),
  ];
  return [
    `CREATE TABLE ${items} AS
     SELECT row_number() OVER (ORDER BY id) AS position, id, name,
            name_key COLLATE "C" AS name_key, category, brand, price_cents, currency,
            description, tags, string_to_array(words, ' ') AS words
     FROM ${staged} ORDER BY id`,
    `ALTER TABLE ${items} ADD PRIMARY KEY (id)`,
    ...columns.map((list) => `CREATE INDEX ON ${items} ${list}`),
    `CREATE INDEX ON ${items} USING gin (words)`,
    `CREATE TABLE ${facets} AS
     SELECT category, brand, count(*) AS items FROM ${items} GROUP BY category, brand`,
    `CREATE TABLE ${figures} AS
     SELECT category, currency, count(*) AS items, min(price_cents) AS least,
            percentile_disc(0.5) WITHIN GROUP (ORDER BY price_cents) AS median,
            max(price_cents) AS most
     FROM ${items} GROUP BY category, currency`,
    `ANALYZE ${items}`,
  ];
}
