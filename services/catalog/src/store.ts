import type { Slice } from '@fw/service';
import { ServiceUnavailableError } from 'fw';

import type { Item, ItemFilter, Order, Place } from './item.ts';

/** A slice of all items, and the number of all items. */
export interface ItemList {
  readonly items: readonly Pick<Item, 'id' | 'name'>[];
  readonly total: number;
}

/** Selects one page of the items that match a filter. */
export interface PageOptions {
  readonly filter: ItemFilter;
  readonly order: Order;
  readonly isDescending: boolean;
  /** Place of the last item of the previous page; absent for the first page. */
  readonly after?: Place | undefined;
  readonly limit: number;
}

export interface ItemPage {
  readonly items: readonly Item[];
  /** Place of the last item, if there are more pages. */
  readonly next?: Place | undefined;
}

/** The number of items with one value. */
export interface Count {
  readonly value: string;
  readonly count: number;
}

/** Number of matching items per category and per brand, the largest first. */
export interface Facets {
  readonly category: readonly Count[];
  readonly brand: readonly Count[];
  /** Number of items that were counted. */
  readonly counted: number;
  /** Whether every matching item was counted. */
  readonly isExact: boolean;
}

/** Prices of one category in one currency, in hundredths. */
export interface CategoryFigures {
  readonly category: string;
  readonly currency: string;
  readonly items: number;
  readonly minPriceCents: number;
  /** Of an even number of prices, the lower of the two in the middle. */
  readonly medianPriceCents: number;
  readonly maxPriceCents: number;
}

export interface Figures {
  readonly total: number;
  /** The category with the most items first. */
  readonly byCategory: readonly CategoryFigures[];
  /** Whether `byCategory` is complete; if not, it contains the `MAX_CATEGORIES` largest entries. */
  readonly isExact: boolean;
}

/** Maximum number of entries in `Figures.byCategory`. */
export const MAX_CATEGORIES = 1_000;

/** Maximum number of items that are counted for the facets of a search or a price range. */
export const MAX_COUNTED = 5_000;

/** Maximum number of pairs of a category and a brand that other facets sum up. */
export const MAX_PAIRS = 10_000;

/** A value and the version of the catalog from which it was read; every import changes the version. */
export interface Versioned<T> {
  readonly version: string;
  readonly value: T;
}

/**
 * Reads the catalog. Items change only when an import replaces all of them in one transaction, so each
 * result is from one catalog, the old or the new. Methods reject with a `ServiceUnavailableError` if the store is
 * unavailable or contains no catalog.
 */
export interface CatalogStore {
  /** Returns a slice of the items, sorted by id, and the total number of items. */
  list(slice: Slice): Promise<ItemList>;
  page(query: PageOptions): Promise<Versioned<ItemPage>>;
  find(id: number): Promise<Versioned<Item | undefined>>;
  facets(filter: ItemFilter): Promise<Versioned<Facets>>;
  figures(): Promise<Versioned<Figures>>;
  /** Version of the current catalog; `undefined` if no catalog was ever imported. */
  version(): Promise<string | undefined>;
  /**
   * Resolves with the versions to which the tables were migrated. SQLite migrates when the store is opened,
   * PostgreSQL on this call or on first use.
   */
  migrate(): Promise<readonly number[]>;
  /** Rejects if the store is unavailable or contains no catalog. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The error of a store that contains no catalog yet. */
export function noCatalog(): ServiceUnavailableError {
  return new ServiceUnavailableError('There is no catalog yet', {
    headers: { 'Retry-After': '1' },
  });
}

/** An item, and the line of the file where it starts. */
export interface NumberedItem {
  readonly line: number;
  readonly item: Item;
}

/** Adds items to the new catalog; resolves with those whose id it already contains. */
export type AddItems = (items: readonly NumberedItem[]) => Promise<readonly NumberedItem[]>;

export interface ReplaceOptions {
  /** Adds all items. Resolves with the version of the new catalog, or `undefined` to cancel. */
  readonly fill: (add: AddItems) => Promise<string | undefined>;
  /** Called before every step of the indexing with the part that is done, from 0 to 1. */
  readonly onIndexing?: (done: number) => Promise<void>;
}

/**
 * Replaces the catalog in one transaction. Readers see the old catalog until the transaction ends; an
 * import that ends early for any reason changes nothing. Resolves with `false` if `fill` cancelled.
 *
 * @throws {ImportRunningError} if another import into the same store is running
 */
export type ReplaceCatalog = (options: ReplaceOptions) => Promise<boolean>;

/** Another import into the same store is running. */
export class ImportRunningError extends Error {
  constructor(options?: ErrorOptions) {
    super('another import into this store is running', options);
  }
}

/** Runs the steps of the indexing in order. */
export async function runSteps(
  steps: readonly (() => unknown)[],
  onIndexing: ReplaceOptions['onIndexing'],
): Promise<void> {
  for (const [at, step] of steps.entries()) {
    await onIndexing?.(at / steps.length);
    await step();
  }
}
