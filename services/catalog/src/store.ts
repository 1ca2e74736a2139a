import type { Item, ItemFilter, ItemSummary, Order, Place } from './item.ts';

/** A stretch of the list: at most `limit` items, from the one at `start` on, which counts from 0. */
export interface Slice {
  readonly start: number;
  readonly limit: number;
}

/** Some items, and how many there are in all. */
export interface ItemList {
  readonly items: readonly ItemSummary[];
  readonly total: number;
}

/** One page of the items that a filter leaves, in an order. */
export interface PageQuery {
  readonly filter: ItemFilter;
  readonly order: Order;
  readonly isDescending: boolean;
  /** The last place of the page before; the first page has none. */
  readonly after?: Place | undefined;
  readonly limit: number;
}

export interface ItemPage {
  readonly items: readonly Item[];
  /** The place of the last item, if others follow it. */
  readonly next?: Place | undefined;
}

/** How many items have one value. */
export interface Count {
  readonly value: string;
  readonly count: number;
}

/** How many of the items that a filter leaves are of each category and brand, the most first. */
export interface Facets {
  readonly category: readonly Count[];
  readonly brand: readonly Count[];
  /** How many items were counted. */
  readonly counted: number;
  /** Whether these are all; if not, the counts tell of `counted` of them. */
  readonly isExact: boolean;
}

/** The prices of one category in one currency, in hundredths. */
export interface CategoryFigures {
  readonly category: string;
  readonly currency: string;
  readonly items: number;
  readonly minPriceCents: number;
  /** The lower of the two in the middle. */
  readonly medianPriceCents: number;
  readonly maxPriceCents: number;
}

export interface Figures {
  readonly total: number;
  /** The category with the most items first. */
  readonly byCategory: readonly CategoryFigures[];
  /** Whether `byCategory` is complete; if not, it has the `MAX_FIGURES` largest entries. */
  readonly isExact: boolean;
}

/** Bounds the size of figures for any number of categories. */
export const MAX_FIGURES = 1_000;

/** Something read, and a word for the catalog that it was read from: another one after every import. */
export interface Versioned<T> {
  readonly version: string;
  readonly value: T;
}

/** How many items are counted for facets that no import has counted beforehand. */
export const MAX_COUNTED = 5_000;

/** Bounds the memory of facets that were counted beforehand: combinations of a category and a brand. */
export const MAX_PAIRS = 10_000;

/**
 * Knows the items. They change only when an import replaces all of them at once, so each answer is of
 * one catalog, the old or the new.
 */
export interface CatalogStore {
  /** A slice of the items in the order of their ids; `total` is of the same moment. */
  list(slice: Slice): Promise<ItemList>;
  page(query: PageQuery): Promise<Versioned<ItemPage>>;
  find(id: number): Promise<Versioned<Item | undefined>>;
  facets(filter: ItemFilter): Promise<Versioned<Facets>>;
  figures(): Promise<Versioned<Figures>>;
  /** The word for the present catalog. */
  version(): Promise<string>;
  /** Migrates the tables to the newest version; the first use does so too. */
  migrate(): Promise<void>;
  /** Whether no catalog was ever imported. */
  isEmpty(): Promise<boolean>;
  /** Rejects if the store cannot be read, or holds no catalog. */
  check(): Promise<void>;
  close(): Promise<void>;
}
