import type { DatabaseSync } from 'node:sqlite';

import { inTransaction } from '@fw/service/sqlite';

import type { Step } from '../import/target.ts';
import { ORDERS, type Order } from '../item.ts';
import { KEY_COLUMNS, type Tables } from './sqlite-tables.ts';

/** How many items get their words into an index in one transaction. */
const SLICE = 50_000;

/** Makes what readers need besides the items; goes on where it was, and leaves alone what is there. */
export async function* buildSqliteTables(
  database: DatabaseSync,
  tables: Tables,
  items: number,
): AsyncGenerator<Step, void> {
  const units = ORDERS.length * (items + SLICE);
  let unitsDone = 0;
  yield { name: 'count', done: 0 };
  once(database, 'summaries', () => summarise(database, tables));
  for (const order of ORDERS) {
    yield { name: `order by ${order}`, done: unitsDone / units };
    once(database, `ranks ${order}`, () => rank(database, tables, order));
    unitsDone += SLICE;
    const name = `words ${order}`;
    for (let done = readDone(database, name); done < items; done += SLICE) {
      yield { name: `index words by ${order}`, done: (unitsDone + done) / units };
      inTransaction(database, () => {
        indexWords(database, tables, { order, from: done });
        setDone(database, name, done + SLICE);
      });
    }
    unitsDone += items;
    once(database, `merge ${order}`, () => merge(database, tables, order));
  }
}

function once(database: DatabaseSync, name: string, work: () => void): void {
  if (readDone(database, name) > 0) return;
  inTransaction(database, () => {
    work();
    setDone(database, name, 1);
  });
}

function readDone(database: DatabaseSync, name: string): number {
  return Number(database.prepare('SELECT done FROM steps WHERE name = ?').get(name)?.done ?? 0);
}

function setDone(database: DatabaseSync, name: string, done: number): void {
  database.prepare('INSERT OR REPLACE INTO steps VALUES (?, ?)').run(name, done);
}

function rank(database: DatabaseSync, { items, ranks, words, facets }: Tables, order: Order): void {
  const type = order === 'name' ? 'TEXT' : 'INTEGER';
  const key = KEY_COLUMNS[order];
  database.exec(
    // What many items are looked at for stands here, where they stand together.
    `CREATE TABLE ${ranks[order]} (
       rank INTEGER PRIMARY KEY, key ${type} NOT NULL, id INTEGER NOT NULL,
       price_cents INTEGER NOT NULL, pair INTEGER NOT NULL, UNIQUE (key, id)
     ) STRICT;
     INSERT INTO ${ranks[order]} (rank, key, id, price_cents, pair)
       SELECT row_number() OVER (ORDER BY ${key}, id), ${key}, id, price_cents, pair
       FROM ${items} CROSS JOIN ${facets} USING (category, brand) ORDER BY ${key}, id;
     CREATE VIRTUAL TABLE ${words[order]} USING fts5 (
       words, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
     )`,
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

/** Slices leave parts; in one part a word's ranks can be sought, in several they are read one by one. */
function merge(database: DatabaseSync, { words }: Tables, order: Order): void {
  database.exec(`INSERT INTO ${words[order]} (${words[order]}) VALUES ('optimize')`);
}

/** Counts beforehand what would take too long on each request. */
function summarise(database: DatabaseSync, { items, facets, figures }: Tables): void {
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
  // In memory this takes a sixth of the time that SQLite needs to sort by texts.
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

/** No text of an item holds a NUL. */
function readPair(pair: string): readonly [string, string] {
  const [first = '', second = ''] = pair.split('\0');
  return [first, second];
}
