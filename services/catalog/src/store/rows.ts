import type { Item } from '../item.ts';
import { type CategoryFigures, type Figures, MAX_FIGURES } from '../store.ts';
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

/** Reads figures from at most `MAX_FIGURES + 1` rows. */
export function toFigures(rows: readonly Row[], total: number): Figures {
  const byCategory = rows.slice(0, MAX_FIGURES).map(toCategoryFigures);
  return { total, byCategory, isExact: rows.length <= MAX_FIGURES };
}

function toCategoryFigures({
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
