import { NotFoundError } from 'fw';

import { type Item, type ItemFilter, ORDERS, type Order } from './item.ts';
import type { CatalogStore, Versioned } from './store.ts';
import { wordsOf } from './words.ts';

/** Selects items as a client does: `q` is free text. */
export interface ItemSearch extends Omit<ItemFilter, 'words'> {
  readonly q?: string | undefined;
}

/** One of `ORDERS`; descending after `-`. */
export type Sort = Order | `-${Order}`;

/** The filter of a search. */
export function filterOf({ q, ...filter }: ItemSearch): ItemFilter {
  return { ...filter, words: q === undefined ? undefined : wordsOf(q) };
}

/** The order of a sort, in either direction. */
export function orderOf(sort: Sort): Order {
  return ORDERS.find((order) => sort.endsWith(order)) ?? 'id';
}

/**
 * Returns an item.
 *
 * @throws {NotFoundError} if the item does not exist
 */
export async function getItem(store: CatalogStore, id: number): Promise<Versioned<Item>> {
  const { version, value } = await store.find(id);
  if (!value) throw new NotFoundError(`Item "${id}" not found`);
  return { version, value };
}
