/** Something that can be bought. */
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

/** What a list of the first version says of an item. */
export interface ItemSummary {
  readonly id: number;
  readonly name: string;
}

/** What lists are ordered by; items that are equal in it are ordered by their ids. */
export const ORDERS = ['id', 'name', 'price'] as const;
export type Order = (typeof ORDERS)[number];

/** Which items are meant: those of which all this is true. */
export interface ItemFilter {
  /** Each of them is a word of the item; an empty list is a search that nothing answers to. */
  readonly words?: readonly string[] | undefined;
  readonly category?: string | undefined;
  readonly brand?: string | undefined;
  /** In hundredths, as `priceCents`. */
  readonly minPrice?: number | undefined;
  readonly maxPrice?: number | undefined;
}

/** Where an item stands in an order: behind all with a smaller key, or the same key and a smaller id. */
export interface Place {
  readonly key: string | number;
  readonly id: number;
}
