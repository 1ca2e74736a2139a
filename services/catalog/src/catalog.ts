import type { Page } from '@fw/service';
import { NotFoundError } from 'fw';

import { type Item, type ItemFilter, ORDERS, type Order, type Place } from './item.ts';
import type { CatalogStore, Facets, ItemPage, Versioned } from './store.ts';
import { wordsOf } from './words.ts';

/** Selects items as a client does: `q` is free text. */
export interface ItemSearch extends Omit<ItemFilter, 'words'> {
  readonly q?: string | undefined;
}

/** One page of a search. */
export interface ItemSearchPage {
  readonly search: ItemSearch;
  /** One of `ORDERS`; descending after `-`. */
  readonly sort: Sort;
  readonly after?: Place | undefined;
  readonly limit: number;
}

export type Sort = Order | `-${Order}`;

/** Lists the items sorted by id, by page number. */
export async function listItems(store: CatalogStore, { page, limit, start }: Page) {
  const { items, total } = await store.list({ start, limit });
  const totalPages = Math.ceil(total / limit);
  return { items, page, limit, total, totalPages, hasNextPage: page < totalPages };
}

/** Lists the items that match a search, one page after the other. */
export function searchItems(
  store: CatalogStore,
  { search, sort, after, limit }: ItemSearchPage,
): Promise<Versioned<ItemPage>> {
  return store.page({
    filter: toFilter(search),
    order: orderOf(sort),
    isDescending: sort.startsWith('-'),
    after,
    limit,
  });
}

/** The order of a sort, in either direction. */
export function orderOf(sort: Sort): Order {
  return ORDERS.find((order) => sort.endsWith(order)) ?? 'id';
}

/** Counts the items that match a search by category and brand. */
export function countFacets(store: CatalogStore, search: ItemSearch): Promise<Versioned<Facets>> {
  return store.facets(toFilter(search));
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

function toFilter({ q, category, brand, minPrice, maxPrice }: ItemSearch): ItemFilter {
  return { words: q === undefined ? undefined : wordsOf(q), category, brand, minPrice, maxPrice };
}
