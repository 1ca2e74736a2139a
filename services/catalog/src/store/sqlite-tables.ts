import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

import { ORDERS, type Order } from '../item.ts';

export const FORMAT = {
  applicationId: 0x66776361, // "fwca"
  migrations: [
    `CREATE TABLE items (
       id          INTEGER PRIMARY KEY,
       name        TEXT NOT NULL,
       category    TEXT NOT NULL,
       brand       TEXT NOT NULL,
       price_cents INTEGER NOT NULL,
       currency    TEXT NOT NULL,
       description TEXT NOT NULL,
       tags        TEXT NOT NULL -- a JSON array
     ) STRICT;
     CREATE TABLE loaded (version TEXT NOT NULL) STRICT`,
    // Each catalog has tables of its own, whose names end in its number.
    `CREATE TABLE present (number INTEGER NOT NULL, version TEXT NOT NULL, total INTEGER NOT NULL) STRICT;
     CREATE TABLE import (
       number     INTEGER NOT NULL,
       checkpoint TEXT,
       items      INTEGER NOT NULL DEFAULT 0,
       refused    INTEGER NOT NULL DEFAULT 0
     ) STRICT;
     CREATE TABLE refused (line INTEGER PRIMARY KEY, reason TEXT NOT NULL) STRICT;
     CREATE TABLE steps (name TEXT PRIMARY KEY, done INTEGER NOT NULL) STRICT`,
  ],
};

/** The column that an order goes by. */
export const KEY_COLUMNS: Readonly<Record<Order, string>> = {
  id: 'id',
  name: 'name_key',
  price: 'price_cents',
};

/** What the tables of one catalog are called. */
export interface Tables {
  readonly items: string;
  /** The words of each item, until they are indexed. */
  readonly texts: string;
  readonly facets: string;
  readonly figures: string;
  /** `rank` counts the items from 1 in this order. */
  readonly ranks: Readonly<Record<Order, string>>;
  /** Which ranks have a word: an intersection of words comes out in the order of the ranks. */
  readonly words: Readonly<Record<Order, string>>;
}

export function tablesOf(number: number): Tables {
  const byOrder = (name: (order: Order) => string) => ({
    id: name('id'),
    name: name('name'),
    price: name('price'),
  });
  return {
    items: `items_${number}`,
    texts: `texts_${number}`,
    facets: `facets_${number}`,
    figures: `figures_${number}`,
    ranks: byOrder((order) => `ranks_by_${order}_${number}`),
    words: byOrder((order) => `words_by_${order}_${number}`),
  };
}

/** Drops the tables of each catalog but those of `keep`. */
export function dropTables(database: DatabaseSync, keep: readonly number[]): void {
  const numbers = database
    .prepare("SELECT substr(name, 7) AS number FROM sqlite_schema WHERE name GLOB 'items_[0-9]*'")
    .all()
    .map(({ number }) => Number(number))
    .filter((number) => !keep.includes(number));
  for (const number of numbers) {
    const { items, texts, facets, figures, ranks, words } = tablesOf(number);
    const orders = ORDERS.flatMap((order) => [ranks[order], words[order]]);
    for (const table of [items, texts, facets, figures, ...orders]) {
      database.exec(`DROP TABLE IF EXISTS ${table}`);
    }
  }
}

/** `tagWord` that makes each word once: items share few categories and brands. */
export function createTagWords(): typeof tagWord {
  const made = new Map<string, string>();
  return (kind, value) => {
    const name = `${kind} ${value}`;
    const word = made.get(name) ?? tagWord(kind, value);
    if (made.size < MAX_REMEMBERED) made.set(name, word);
    return word;
  };
}

/** So many are no burden even if each item has a brand of its own. */
const MAX_REMEMBERED = 10_000;

/** What a category or a brand is called among the words of an item: no text has such a word. */
export function tagWord(kind: 'brand' | 'category', value: string): string {
  const mark = kind === 'brand' ? '\ue000' : '\ue001';
  return mark + hash('sha256', value).slice(0, 20);
}
