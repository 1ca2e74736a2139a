import type { CatalogFigures, UserFigures } from '../figures.ts';

/** Figures of the users service for 30 days. */
export const USERS: UserFigures = {
  total: 1_287,
  byDay: Array.from({ length: 30 }, (_, index) => ({
    date: new Date(Date.UTC(2026, 9, 23 + index)).toISOString().slice(0, 10),
    count: [12, 18, 25, 9, 4, 31, 44][index % 7]! + index,
  })),
  byDomain: [
    { domain: 'example.org', count: 611 },
    { domain: 'example.com', count: 402 },
    { domain: 'mail.example.net', count: 97 },
  ],
};

const CATEGORIES = [
  ['Kitchen', 212, 450, 3_990, 48_900],
  ['Outdoor', 174, 790, 5_450, 89_900],
  ['Audio', 133, 990, 12_900, 189_900],
  ['Home Office', 101, 350, 2_450, 65_000],
  ['Books', 96, 499, 1_899, 7_900],
  ['Toys', 12, 199, 1_450, 12_900],
] as const;

/** Figures of the catalog service. */
export const CATALOG: CatalogFigures = {
  total: CATEGORIES.reduce((sum, [, items]) => sum + items, 0),
  byCategory: CATEGORIES.map(
    ([category, items, minPriceCents, medianPriceCents, maxPriceCents]) => ({
      category,
      currency: 'EUR',
      items,
      minPriceCents,
      medianPriceCents,
      maxPriceCents,
    }),
  ),
};
