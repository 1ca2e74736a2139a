import { request } from '@fw/core/testing';
import { memoryStore, type RateLimitStore } from '@fw/rate-limit';

import { createReportsApp, type ReportsAppOptions } from '../app.ts';
import { invalidToken, type Verify } from '../auth/require-auth.ts';
import { LIMITS } from '../config.ts';
import type { Figures } from '../figures.ts';
import { createLimits, type PerMinute } from '../limits.ts';
import { CATALOG, USERS } from './figures.ts';

/** The current time in tests. */
export const NOW = new Date('2026-11-21T10:00:00Z');

/** Accepts `<name>-token` (free tier) and `<name>-pro-token`; rejects `eve-token`. */
export const verify: Verify = async (token) => {
  const [, id, pro] = /^([a-z]+)(-pro)?-token$/.exec(token) ?? [];
  if (id === undefined || id === 'eve') throw invalidToken();
  return { id, tier: pro === undefined ? 'free' : 'pro' };
};

/** Creates rate limiters that count in memory. Default: the default limits. */
export function newLimits(
  perMinute: Partial<PerMinute> = {},
  store: RateLimitStore = memoryStore(),
) {
  return createLimits({ ...LIMITS, ...perMinute }, store);
}

const logger = { info() {}, warn() {}, error() {} };

/** Creates the API with the given figures. Default: complete figures. */
export function newApp({
  figures = { users: USERS, catalog: CATALOG },
  ...options
}: Partial<ReportsAppOptions> & { readonly figures?: Figures } = {}) {
  const readFigures = async () => figures;
  const limits = newLimits();
  return createReportsApp({ verify, readFigures, limits, now: () => NOW, logger, ...options });
}

/** Sends a GET request of the user `ada`. */
export function get(
  app: ReturnType<typeof newApp>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return request(app, path, { headers: { Authorization: 'Bearer ada-token', ...headers } });
}
