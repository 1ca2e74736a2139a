import type { Row } from '@fw/service/postgres';

import { type Item, type ItemFilter, isSearch, type Order, type Place } from '../item.ts';
import {
  type CategoryFigures,
  type Count,
  type Facets,
  type Figures,
  type ItemPage,
  MAX_CATEGORIES,
  MAX_COUNTED,
  MAX_PAIRS,
  type PageOptions,
} from '../store.ts';

/** The column that each order sorts by. */
export const KEY_COLUMNS: Readonly<Record<Order, string>> = {
  id: 'id',
  name: 'name_key',
  price: 'price_cents',
};

/** Maximum number of values of one facet. */
const MAX_VALUES = 100;

/** Converts a row to an item; its tags are stored as JSON. */
export function toItem(row: Row): Item {
  return {
    id: Number(row.id),
    name: String(row.name),
    category: String(row.category),
    brand: String(row.brand),
    priceCents: Number(row.price_cents),
    currency: String(row.currency),
    description: String(row.description),
    tags: JSON.parse(String(row.tags)),
  };
}

/** Converts a row to an entry of the list of version 1. */
export function toSummary({ id, name }: Row): Pick<Item, 'id' | 'name'> {
  return { id: Number(id), name: String(name) };
}

/** Converts the rows of a page; a row more than `limit` means that there are more pages. */
export function toPage(rows: readonly Row[], { limit, order }: PageOptions): ItemPage {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: rows.slice(0, limit).map(toItem), ...(last && { next: toPlace(last, order) }) };
}

/** The place of a row with the columns `key` and `id`. */
export function toPlace({ key, id }: Row, order: Order): Place {
  return [order === 'name' ? String(key) : Number(key), Number(id)];
}

/**
 * Sums up rows of a category, a brand and a number of items. A search counts at most `MAX_COUNTED` items;
 * the numbers that an import has counted are at most `MAX_PAIRS + 1` rows, the largest first.
 */
export function toFacets(allRows: readonly Row[], filter: ItemFilter): Facets {
  const rows = allRows.slice(0, MAX_PAIRS);
  const counted = rows.reduce((sum, { items }) => sum + Number(items), 0);
  return {
    category: countBy(rows, 'category'),
    brand: countBy(rows, 'brand'),
    counted,
    isExact: isSearch(filter) ? counted < MAX_COUNTED : allRows.length <= MAX_PAIRS,
  };
}

function countBy(rows: readonly Row[], facet: 'category' | 'brand'): readonly Count[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const value = String(row[facet]);
    counts.set(value, (counts.get(value) ?? 0) + Number(row.items));
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_VALUES);
}

/** Reads figures from at most `MAX_CATEGORIES + 1` rows. */
export function toFigures(rows: readonly Row[], total: number): Figures {
  const byCategory = rows.slice(0, MAX_CATEGORIES).map(toCategoryFigures);
  return { total, byCategory, isExact: rows.length <= MAX_CATEGORIES };
}

function toCategoryFigures(row: Row): CategoryFigures {
  return {
    category: String(row.category),
    currency: String(row.currency),
    items: Number(row.items),
    minPriceCents: Number(row.least),
    medianPriceCents: Number(row.median),
    maxPriceCents: Number(row.most),
  };
}
