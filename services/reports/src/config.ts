import { type ConfigOf, integer, secret, serviceVariables, text, url, variable } from '@fw/service';
import * as z from 'zod';

import { PUBLIC_KEY_ALGORITHMS, type TokenKeys } from './jwt.ts';

const ALGORITHMS = ['HS256', ...PUBLIC_KEY_ALGORITHMS] as const;

/** What the service reads from its environment, with the defaults. */
export const VARIABLES = {
  ...serviceVariables({ port: 8083 }),
  JWT_SECRET: secret({ leastBytes: 32, meaning: 'secret that tokens are signed with, by HS256' }),
  JWT_JWKS_URL: url({
    protocols: ['https:', 'http:'],
    meaning: 'public keys of tokens, instead of a secret',
  }),
  JWT_ALGORITHM: variable(
    z.enum(ALGORITHMS, `must be one of ${ALGORITHMS.join(', ')}`).optional(),
    {
      fallback: 'RS256',
      meaning: 'of those keys: RS256, ES256 or EdDSA; beside a secret: HS256 at most',
    },
  ),
  JWT_ISSUER: text({ fallback: 'fw', meaning: 'who makes the tokens: their iss' }),
  JWT_AUDIENCE: text({ fallback: 'reports', meaning: 'whom tokens are made for: in their aud' }),
  RATE_LIMIT_FREE: integer({
    from: 1,
    to: 1_000_000,
    fallback: 100,
    unit: 'requests/min',
    meaning: 'what v2 answers a user of the free tier',
  }),
  RATE_LIMIT_PRO: integer({
    from: 1,
    to: 1_000_000,
    fallback: 1_000,
    unit: 'requests/min',
    meaning: 'what v2 answers a user of the pro tier',
  }),
  RATE_LIMIT_INVALID_TOKENS: integer({
    from: 1,
    to: 1_000_000,
    fallback: 30,
    unit: 'requests/min',
    meaning: 'invalid tokens of one client address, then 429',
  }),
  REDIS_URL: secret({
    protocols: ['redis:', 'rediss:'],
    meaning: 'Redis or Valkey to count in; none: in memory',
  }),
  USERS_URL: url({
    protocols: ['http:', 'https:'],
    fallback: 'http://127.0.0.1:8081',
    meaning: 'where the figures of users come from',
  }),
  CATALOG_URL: url({
    protocols: ['http:', 'https:'],
    fallback: 'http://127.0.0.1:8082',
    meaning: 'where the figures of the catalog come from',
  }),
  FIGURES_TIMEOUT_MS: integer({
    from: 50,
    to: 60_000,
    fallback: 1_000,
    unit: 'ms',
    meaning: 'longest that a try may take; there are two',
  }),
};

export type ReportsConfig = ConfigOf<typeof VARIABLES>;

/** Without keys nobody could come in, and with both kinds it would be unclear who may. */
export function requireOneKind(config: ReportsConfig): string[] {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl, JWT_ALGORITHM: algorithm } = config;
  const hasSecret = secret !== undefined;
  if (hasSecret === (jwksUrl !== undefined)) {
    return hasSecret
      ? ['JWT_SECRET and JWT_JWKS_URL are both set: expected one of them']
      : ['JWT_SECRET is missing: expected it, JWT_SECRET_FILE or JWT_JWKS_URL'];
  }
  if (algorithm === undefined || hasSecret === (algorithm === 'HS256')) return [];
  const fit = hasSecret
    ? 'HS256 beside JWT_SECRET'
    : `one of ${PUBLIC_KEY_ALGORITHMS.join(', ')} beside JWT_JWKS_URL`;
  return [`JWT_ALGORITHM must be ${fit}, got "${algorithm}"`];
}

/** What the service checks tokens with. */
export function tokenKeysOf(config: ReportsConfig): TokenKeys {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl = '', JWT_ALGORITHM: name } = config;
  if (secret !== undefined) return { secret };
  const algorithm = PUBLIC_KEY_ALGORITHMS.find((each) => each === name) ?? 'RS256';
  return { jwksUrl: new URL(jwksUrl), algorithm };
}
