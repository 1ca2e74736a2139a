import { hash } from 'node:crypto';

import type { Statement } from '@fw/service/postgres';

import type { Order } from '../item.ts';

export const MIGRATIONS = [
  // Each catalog has tables of its own, whose names end in its number.
  `CREATE TABLE catalog_present (
     number  integer NOT NULL,
     version text NOT NULL,
     total   bigint NOT NULL
   );
   CREATE TABLE catalog_import (
     number     integer NOT NULL,
     -- Whoever took the lock last; nobody else may write.
     importer   uuid NOT NULL,
     checkpoint text,
     items      bigint NOT NULL DEFAULT 0,
     refused    bigint NOT NULL DEFAULT 0,
     steps      integer NOT NULL DEFAULT 0
   );
   CREATE TABLE catalog_refused (line bigint PRIMARY KEY, reason text NOT NULL)`,
];

/** The column that an order goes by. */
export const KEY_COLUMNS: Readonly<Record<Order, string>> = {
  id: 'id',
  name: 'name_key',
  price: 'price_cents',
};

/** What the tables of one catalog are called. */
export interface Tables {
  /** The items while they come, in no order. */
  readonly staged: string;
  /** The items, each with its position in the order of the ids, from 1 on. */
  readonly items: string;
  readonly facets: string;
  readonly figures: string;
}

export function tablesOf(number: number): Tables {
  return {
    staged: `catalog_staged_${number}`,
    items: `catalog_items_${number}`,
    facets: `catalog_facets_${number}`,
    figures: `catalog_figures_${number}`,
  };
}

/** A statement that is known to the server by what it says. */
export function sql(text: string): Statement {
  return { name: `catalog ${hash('sha256', text).slice(0, 16)}`, text };
}
