import { hash } from 'node:crypto';

import type { Statement } from '@fw/service/postgres';

export const MIGRATIONS = [
  // Each catalog has its own tables, whose names end in its number.
  `CREATE TABLE catalog_present (
     number  integer NOT NULL,
     version text NOT NULL,
     total   bigint NOT NULL
   )`,
  // An earlier version of this program stored interrupted imports there, and would continue them.
  'DROP TABLE IF EXISTS catalog_import, catalog_refused',
];

/** The names of the tables of one catalog. */
export interface Tables {
  /** Imported items, without an order. */
  readonly staged: string;
  /** The items, each with its position in the order of ids, counted from 1. */
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

/** A prepared statement that is named after its text. */
export function sql(text: string): Statement {
  return { name: `catalog ${hash('sha256', text).slice(0, 16)}`, text };
}
