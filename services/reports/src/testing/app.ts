import { request } from '@fw/core/testing';

import { createReportsApp, type ReportsAppOptions } from '../app.ts';
import { invalidToken, type Verify } from '../auth/require-auth.ts';
import type { Statistics } from '../statistics/statistics.ts';
import { CATALOG, USERS } from './statistics.ts';

/** The current time in tests. */
export const NOW = new Date('2026-11-21T10:00:00Z');

/** Accepts `<name>-token` (free tier) and `<name>-pro-token`; rejects `eve-token`. */
export const verify: Verify = async (token) => {
  const [, id, pro] = /^([a-z]+)(-pro)?-token$/.exec(token) ?? [];
  if (id === undefined || id === 'eve') throw invalidToken();
  return { id, tier: pro === undefined ? 'free' : 'pro' };
};

const logger = { info() {}, warn() {}, error() {} };

/** Creates the API with the given statistics. Default: complete statistics. */
export function newApp({
  statistics = { users: USERS, catalog: CATALOG },
  ...options
}: Partial<ReportsAppOptions> & { readonly statistics?: Statistics } = {}) {
  const readStatistics = async () => statistics;
  return createReportsApp({ verify, readStatistics, now: () => NOW, logger, ...options });
}

/** Sends a GET request of the user `ada`. */
export function get(
  app: ReturnType<typeof newApp>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return request(app, path, { headers: { Authorization: 'Bearer ada-token', ...headers } });
}
