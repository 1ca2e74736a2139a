import { quiet, request } from '@fw/core/testing';
import { memoryStore, type RateLimitStore } from '@fw/rate-limit';

import {
  AUDIENCE,
  claimsOf,
  forge,
  ISSUER,
  SECRET,
} from '../../../framework/middleware/src/testing/tokens.ts';
import { createReportsApp, type ReportsAppOptions } from './app.ts';
import type { Tier } from './authentication.ts';
import type { CatalogFigures, Figures, UserFigures } from './figures.ts';
import { createLimits, LIMITS, type PerMinute } from './limits.ts';

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

/** The current time in tests. */
export const NOW = new Date('2026-11-21T10:00:00Z');

/** A valid token of the user `id`. */
export function tokenOf(id: string, tier: Tier = 'free'): string {
  return forge({ alg: 'HS256' }, claimsOf({ sub: id, tier }));
}

/** Creates rate limiters that count in memory. Default: the default limits. */
export function newLimits(
  perMinute: Partial<PerMinute> = {},
  store: RateLimitStore = memoryStore(),
) {
  return createLimits({ ...LIMITS, ...perMinute }, store);
}

/** Creates the API with the given figures. Default: complete figures. */
export function newApp({
  figures = { users: USERS, catalog: CATALOG },
  ...options
}: Partial<ReportsAppOptions> & { readonly figures?: Figures } = {}) {
  const readFigures = async () => figures;
  const tokens = { secret: SECRET, issuer: ISSUER, audience: AUDIENCE };
  const limits = newLimits();
  return createReportsApp({
    tokens,
    readFigures,
    limits,
    now: () => NOW,
    logger: quiet,
    ...options,
  });
}

/** Sends a GET request of the user `ada`. */
export function get(
  app: ReturnType<typeof newApp>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return request(app, path, { headers: { Authorization: `Bearer ${tokenOf('ada')}`, ...headers } });
}
