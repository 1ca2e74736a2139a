import { type ConfigOf, integer, oneOf, secret, serviceVariables, text, url } from '@fw/service';

import { PUBLIC_KEY_ALGORITHMS, type TokenKeys } from './jwt.ts';

/** What the service reads from its environment, with the defaults. */
export const VARIABLES = {
  ...serviceVariables({ port: 8083 }),
  JWT_SECRET: secret({ leastBytes: 32, meaning: 'secret that tokens are signed with, by HS256' }),
  JWT_JWKS_URL: url({
    protocols: ['https:', 'http:'],
    meaning: 'public keys of tokens, instead of a secret',
  }),
  JWT_ALGORITHM: oneOf({
    words: PUBLIC_KEY_ALGORITHMS,
    fallback: 'RS256',
    meaning: 'of those keys: RS256, ES256 or EdDSA',
  }),
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
export function requireOneKind({ JWT_SECRET, JWT_JWKS_URL }: ReportsConfig): string[] {
  if ((JWT_SECRET === undefined) !== (JWT_JWKS_URL === undefined)) return [];
  return JWT_SECRET === undefined
    ? ['JWT_SECRET is missing: expected it, JWT_SECRET_FILE or JWT_JWKS_URL']
    : ['JWT_SECRET and JWT_JWKS_URL are both set: expected one of them'];
}

/** What the service checks tokens with. */
export function tokenKeysOf(config: ReportsConfig): TokenKeys {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl = '', JWT_ALGORITHM: algorithm } = config;
  return secret === undefined ? { jwksUrl: new URL(jwksUrl), algorithm } : { secret };
}
