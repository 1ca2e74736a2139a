import { quiet, request } from '@fw/core/testing';
import { memoryStore, type RateLimitStore } from '@fw/rate-limit';

import {
  AUDIENCE,
  claimsOf,
  forge,
  ISSUER,
  SECRET,
} from '../../../../framework/middleware/src/testing/tokens.ts';
import { createReportsApp, type ReportsAppOptions } from '../app.ts';
import type { Tier } from '../authentication.ts';
import { LIMITS } from '../config.ts';
import type { Figures } from '../figures.ts';
import { createLimits, type PerMinute } from '../limits.ts';
import { CATALOG, USERS } from './figures.ts';

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
