import { request } from '@fw/core/testing';

import { createReportsApp, type ReportsAppOptions } from '../app.ts';
import type { Figures } from '../figures.ts';
import { invalidToken, type Verify } from '../require-auth.ts';
import { CATALOG, USERS } from './figures.ts';

/** When every report of a test is made. */
export const NOW = new Date('2026-11-21T10:00:00Z');

/** Knows anybody by the token `<name>-token`, of the pro tier by `<name>-pro-token`. */
export const verify: Verify = async (token) => {
  const [, id, pro] = /^([a-z]+)(-pro)?-token$/.exec(token) ?? [];
  if (id === undefined || id === 'eve') throw invalidToken();
  return { id, tier: pro === undefined ? 'free' : 'pro' };
};

const logger = { info() {}, warn() {}, error() {} };

/** The API over figures of a test's own, by default all there are. */
export function newApp({
  figures = { users: USERS, catalog: CATALOG },
  ...options
}: Partial<ReportsAppOptions> & { readonly figures?: Figures } = {}) {
  const readFigures = async () => figures;
  return createReportsApp({ verify, readFigures, now: () => NOW, logger, ...options });
}

/** What `app` answers Ada. */
export function get(
  app: ReturnType<typeof newApp>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return request(app, path, { headers: { Authorization: 'Bearer ada-token', ...headers } });
}
