import type { Item } from '../item.ts';
import type { CategoryFigures } from '../store.ts';
import type { Pair } from './facets.ts';

/** A row of either store. */
type Row = Readonly<Record<string, unknown>>;

/** Reads an item; stores keep its tags as JSON. */
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

export function toPair({ category, brand, items }: Row): Pair {
  return { category: String(category), brand: String(brand), items: Number(items) };
}

export function toFigures({
  category,
  currency,
  items,
  least,
  median,
  most,
}: Row): CategoryFigures {
  return {
    category: String(category),
    currency: String(currency),
    items: Number(items),
    minPriceCents: Number(least),
    medianPriceCents: Number(median),
    maxPriceCents: Number(most),
  };
}
