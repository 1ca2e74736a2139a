import type { DatabaseSync } from 'node:sqlite';

import { isBusy, openDatabase } from '@fw/service/sqlite';

import { ORDERS, type Order } from '../item.ts';
import {
  type AddItems,
  ImportRunningError,
  type NumberedItem,
  type ReplaceCatalog,
  type ReplaceOptions,
  runSteps,
} from '../store.ts';
import { nameKeyOf, wordsOfItem } from '../words.ts';
import { KEY_COLUMNS } from './rows.ts';
import type { SqliteCatalogOptions } from './sqlite.ts';
import { FORMAT, type Tables, tablesOf, tagWord } from './sqlite-migrations.ts';

/** The number of items whose words are indexed in one step. */
const SLICE = 50_000;

/** Creates the import into an SQLite file. */
export function createSqliteImport(
  file: string,
  { timeoutMs }: SqliteCatalogOptions,
): ReplaceCatalog {
  return async (options) => {
    const database = openDatabase(file, FORMAT, { timeoutMs });
    try {
      begin(database);
      const isReplaced = await replaceCatalog(database, options);
      database.exec(isReplaced ? 'COMMIT' : 'ROLLBACK');
      truncateLog(database, timeoutMs);
      return isReplaced;
    } finally {
      // Rolls back an open transaction.
      database.close();
    }
  };
}

/** The log has grown with the catalog, and no other process would truncate it. */
function truncateLog(database: DatabaseSync, timeoutMs: number): void {
  try {
    database.exec(`PRAGMA busy_timeout = ${timeoutMs}; PRAGMA wal_checkpoint(TRUNCATE)`);
  } catch {
    // The import has ended; a longer log only needs space, and the next import truncates it.
  }
}

/** Acquires the write lock; only imports have it for a long time. */
function begin(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA cache_size = -64000; PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
  } catch (error) {
    throw isBusy(error) ? new ImportRunningError({ cause: error }) : error;
  }
}

async function replaceCatalog(
  database: DatabaseSync,
  { fill, onIndexing }: ReplaceOptions,
): Promise<boolean> {
  const number = readNumber(database, 'SELECT max(number) FROM present') + 1;
  // Readers see the old tables until the transaction ends; the new ones use their space.
  dropCatalogs(database);
  const tables = tablesOf(number);
  const version = await fill(createAddItems(database, tables));
  if (version === undefined) return false;
  const total = readNumber(database, `SELECT count(*) FROM ${tables.items}`);
  await runSteps(indexSteps(database, tables, total), onIndexing);
  database.exec(`DROP TABLE ${tables.texts}; DELETE FROM present`);
  database.prepare('INSERT INTO present VALUES (?, ?, ?)').run(number, version, total);
  return true;
}

/** Drops the tables of every catalog, and the state of imports that an earlier version would continue. */
function dropCatalogs(database: DatabaseSync): void {
  database.exec('DELETE FROM import; DELETE FROM refused; DELETE FROM steps');
  // The names of catalogs end in a number. A full-text index drops its own tables, such as words_by_id_7_data.
  const tables = database
    .prepare(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name GLOB '*_[0-9]*' AND name NOT GLOB '*_[0-9]*_*'`,
    )
    .all();
  for (const { name } of tables) database.exec(`DROP TABLE ${name}`);
}

function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}

function createAddItems(database: DatabaseSync, { items: table, texts }: Tables): AddItems {
  database.exec(
    `CREATE TABLE ${table} (
       id          INTEGER PRIMARY KEY,
       name        TEXT NOT NULL,
       name_key    TEXT NOT NULL,
       category    TEXT NOT NULL,
       brand       TEXT NOT NULL,
       price_cents INTEGER NOT NULL,
       currency    TEXT NOT NULL,
       description TEXT NOT NULL,
       tags        TEXT NOT NULL -- a JSON array
     ) STRICT;
     CREATE TABLE ${texts} (id INTEGER PRIMARY KEY, words TEXT NOT NULL) STRICT`,
  );
  const insertItem = database.prepare(
    `INSERT OR IGNORE INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertText = database.prepare(`INSERT INTO ${texts} VALUES (?, ?)`);

  return async (items) => {
    const duplicates: NumberedItem[] = [];
    for (const numbered of items) {
      const { id, name, category, brand, priceCents, currency, description, tags } = numbered.item;
      const row = [id, name, nameKeyOf(name), category, brand, priceCents, currency, description];
      if (insertItem.run(...row, JSON.stringify(tags)).changes === 0) {
        duplicates.push(numbered);
        continue;
      }
      const tagWords = [tagWord('category', category), tagWord('brand', brand)];
      insertText.run(id, [...wordsOfItem(numbered.item), ...tagWords].join(' '));
    }
    return duplicates;
  };
}

/** The steps that create the tables that readers need besides the items. */
function indexSteps(
  database: DatabaseSync,
  tables: Tables,
  total: number,
): readonly (() => void)[] {
  const slices = Array.from({ length: Math.ceil(total / SLICE) }, (_, at) => at * SLICE);
  return [
    () => summarize(database, tables),
    ...ORDERS.flatMap((order) => [
      () => rank(database, tables, order),
      ...slices.map((from) => () => indexWords(database, tables, { order, from })),
      () => merge(database, tables, order),
    ]),
  ];
}

function rank(database: DatabaseSync, { items, ranks, words, facets }: Tables, order: Order): void {
  const type = order === 'name' ? 'TEXT' : 'INTEGER';
  const key = KEY_COLUMNS[order];
  database.exec(
    // Contains the columns that filter many items, because rows that are adjacent here share a database page.
    `CREATE TABLE ${ranks[order]} (
       rank INTEGER PRIMARY KEY, key ${type} NOT NULL, id INTEGER NOT NULL,
       price_cents INTEGER NOT NULL, pair INTEGER NOT NULL, UNIQUE (key, id)
     ) STRICT;
     INSERT INTO ${ranks[order]} (rank, key, id, price_cents, pair)
       SELECT row_number() OVER (ORDER BY ${key}, id), ${key}, id, price_cents, pair
       FROM ${items} CROSS JOIN ${facets} USING (category, brand) ORDER BY ${key}, id;
     CREATE VIRTUAL TABLE ${words[order]} USING fts5 (
       words, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
     );
     -- The last step merges all segments at once, so merges in between would only take time.
     INSERT INTO ${words[order]} (${words[order]}, rank) VALUES ('automerge', 0), ('crisismerge', 1999)`,
  );
}

function indexWords(
  database: DatabaseSync,
  { texts, ranks, words }: Tables,
  { order, from }: { readonly order: Order; readonly from: number },
): void {
  database
    .prepare(
      `INSERT INTO ${words[order]} (rowid, words)
         SELECT r.rank, t.words FROM ${ranks[order]} r CROSS JOIN ${texts} t ON t.id = r.id
         WHERE r.rank > ? AND r.rank <= ? ORDER BY r.rank`,
    )
    .run(from, from + SLICE);
}

/** Slices leave several index segments. SQLite can seek a rank only within one segment. */
function merge(database: DatabaseSync, { words }: Tables, order: Order): void {
  database.exec(`INSERT INTO ${words[order]} (${words[order]}) VALUES ('optimize')`);
}

/** Stores the counts that are too slow to compute for each request. */
function summarize(database: DatabaseSync, { items, facets, figures }: Tables): void {
  database.exec(
    `CREATE TABLE ${facets} (
       pair INTEGER PRIMARY KEY, category TEXT NOT NULL, brand TEXT NOT NULL, items INTEGER NOT NULL,
       UNIQUE (category, brand)
     ) STRICT;
     CREATE TABLE ${figures} (
       category TEXT NOT NULL, currency TEXT NOT NULL, items INTEGER NOT NULL,
       least INTEGER NOT NULL, median INTEGER NOT NULL, most INTEGER NOT NULL
     ) STRICT`,
  );
  const pairs = new Map<string, number>();
  const groups = new Map<string, number[]>();
  // Counting in memory is six times as fast as sorting by text in SQLite.
  const all = database.prepare(`SELECT category, brand, currency, price_cents FROM ${items}`);
  for (const { category, brand, currency, price_cents } of all.iterate()) {
    const pair = `${category}\0${brand}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    const group = `${category}\0${currency}`;
    const prices = groups.get(group) ?? [];
    if (prices.push(Number(price_cents)) === 1) groups.set(group, prices);
  }

  const insertPair = database.prepare(
    `INSERT INTO ${facets} (category, brand, items) VALUES (?, ?, ?)`,
  );
  for (const [pair, count] of pairs) insertPair.run(...readPair(pair), count);
  const insertGroup = database.prepare(`INSERT INTO ${figures} VALUES (?, ?, ?, ?, ?, ?)`);
  for (const [group, unsorted] of groups) {
    const prices = Float64Array.from(unsorted).sort();
    const price = (at: number) => prices[at] ?? 0;
    const median = price((prices.length - 1) >> 1);
    const limits = [price(0), median, price(prices.length - 1)];
    insertGroup.run(...readPair(group), prices.length, ...limits);
  }
}

/** No text of an item contains NUL. */
function readPair(pair: string): readonly [string, string] {
  const [first = '', second = ''] = pair.split('\0');
  return [first, second];
}
