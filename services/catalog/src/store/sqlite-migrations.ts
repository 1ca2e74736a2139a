import { hash } from 'node:crypto';

import type { Order } from '../item.ts';

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
    // Each catalog has its own tables, whose names end in its number. Imports of an earlier version of
    // this program, which may run at the same time, use the tables after "present".
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

/** The names of the tables of one catalog. */
export interface Tables {
  readonly items: string;
  /** The words of each item; exists during an import only. */
  readonly texts: string;
  readonly facets: string;
  readonly figures: string;
  /** The rank of each item in this order, from 1. */
  readonly ranks: Readonly<Record<Order, string>>;
  /** Full-text index whose row ids are ranks: matches come out in this order. */
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

/** The word that represents a category or a brand in the full-text index; no text contains it. */
export function tagWord(kind: 'brand' | 'category', value: string): string {
  const mark = kind === 'brand' ? '\ue000' : '\ue001';
  return mark + hash('sha256', value).slice(0, 20);
}
