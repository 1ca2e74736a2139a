/** A product of the catalog. */
export interface Item {
  /** A positive integer. */
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly brand: string;
  /** In hundredths of `currency`. */
  readonly priceCents: number;
  /** ISO 4217. */
  readonly currency: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Sort orders; items with equal keys are sorted by id. */
export const ORDERS = ['id', 'name', 'price'] as const;
export type Order = (typeof ORDERS)[number];

/** Selects the items that meet every condition. */
export interface ItemFilter {
  /** Words that the item must contain, as `wordsOf` returns them. An empty list matches no item. */
  readonly words?: readonly string[] | undefined;
  readonly category?: string | undefined;
  readonly brand?: string | undefined;
  /** In hundredths, as `priceCents`. */
  readonly minPrice?: number | undefined;
  readonly maxPrice?: number | undefined;
}

/** Whether a filter limits the price. */
export function hasPrice({ minPrice, maxPrice }: ItemFilter): boolean {
  return minPrice !== undefined || maxPrice !== undefined;
}

/** Whether a filter selects by more than category and brand, whose items an import has counted. */
export function isSearch(filter: ItemFilter): boolean {
  return filter.words !== undefined || hasPrice(filter);
}

/** Position in a sorted list: after every item with a smaller key, or the same key and a smaller id. */
export type Place = readonly [key: string | number, id: number];
