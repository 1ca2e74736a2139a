import type { ItemSummary } from './item.ts';

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

/** Knows the items, in the order of their ids. */
export interface CatalogStore {
  /** A slice of the items; `total` is of the same moment. */
  list(slice: Slice): Promise<ItemList>;
  /** Rejects if the store cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}
