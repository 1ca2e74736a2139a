import type { DatabaseSync } from 'node:sqlite';

import { ORDERS, type Order } from '../item.ts';
import { KEY_COLUMNS, type Tables } from './sqlite-tables.ts';

/** The number of items whose words are indexed in one step. */
const SLICE = 50_000;

/** The steps that create the tables that readers need besides the items. */
export function indexSteps(
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
function summarize(database: DatabaseSync, { items, facets, statistics }: Tables): void {
  database.exec(
    `CREATE TABLE ${facets} (
       pair INTEGER PRIMARY KEY, category TEXT NOT NULL, brand TEXT NOT NULL, items INTEGER NOT NULL,
       UNIQUE (category, brand)
     ) STRICT;
     CREATE TABLE ${statistics} (
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
  const insertGroup = database.prepare(`INSERT INTO ${statistics} VALUES (?, ?, ?, ?, ?, ?)`);
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
