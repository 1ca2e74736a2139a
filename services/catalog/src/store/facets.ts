import { type Count, type Facets, MAX_COUNTED, MAX_PAIRS } from '../store.ts';

/** How many items have this category together with this brand. */
export interface Pair {
  readonly category: string;
  readonly brand: string;
  readonly items: number;
}

/** The most values of one facet that are told. */
const MAX_VALUES = 100;

/** Sums up what was counted, of at most `MAX_COUNTED` items unless `isExact`. */
export function sumFacets(pairs: readonly Pair[], { isExact }: { isExact: boolean }): Facets {
  const counted = pairs.reduce((sum, { items }) => sum + items, 0);
  return {
    category: sum(pairs, 'category'),
    brand: sum(pairs, 'brand'),
    counted,
    isExact: isExact || counted < MAX_COUNTED,
  };
}

/** Sums up at most `MAX_PAIRS + 1` pairs that were counted beforehand, the most frequent first. */
export function sumCountedPairs(pairs: readonly Pair[]): Facets {
  return sumFacets(pairs.slice(0, MAX_PAIRS), { isExact: pairs.length <= MAX_PAIRS });
}

function sum(pairs: readonly Pair[], facet: 'category' | 'brand'): readonly Count[] {
  const counts = new Map<string, number>();
  for (const pair of pairs) counts.set(pair[facet], (counts.get(pair[facet]) ?? 0) + pair.items);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_VALUES);
}
