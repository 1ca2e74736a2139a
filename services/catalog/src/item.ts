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

/** What a list says of an item. */
export interface ItemSummary {
  readonly id: number;
  readonly name: string;
}
