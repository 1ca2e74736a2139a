import {
  type ConfigOf,
  integer,
  oneOf,
  serviceVariables,
  url,
  versionVariables,
} from '@fw/service';
import * as z from 'zod';

import type { TokenOptions } from './authentication.ts';
import { LIMITS } from './limits.ts';

/** The supported algorithms of public keys. */
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

const ALGORITHMS = ['HS256', ...PUBLIC_KEY_ALGORITHMS] as const;

/** The day (UTC) on which version 1 became deprecated. */
export const V1_DEPRECATED_SINCE = '2026-12-01';

/** The environment variables of the service. */
export const VARIABLES = {
  ...serviceVariables({ port: 8083 }),
  ...versionVariables(V1_DEPRECATED_SINCE),
  JWT_SECRET: z
    .string()
    .refine((value) => Buffer.byteLength(value) >= 32, 'must have at least 32 bytes')
    .optional()
    .meta({ description: 'secret that signs tokens with HS256', secret: true }),
  JWT_JWKS_URL: url('https', 'http')
    .optional()
    .meta({ description: 'address of the public keys that verify tokens, instead of a secret' }),
  JWT_ALGORITHM: oneOf(ALGORITHMS).optional().meta({
    description: 'algorithm of the public keys: RS256, ES256 or EdDSA; with a secret only HS256',
    default: 'RS256',
  }),
  JWT_ISSUER: z.string().default('fw').meta({ description: 'expected issuer (iss) of tokens' }),
  JWT_AUDIENCE: z
    .string()
    .default('reports')
    .meta({ description: 'expected audience (aud) of tokens' }),
  RATE_LIMIT_FREE: integer(1, 1_000_000)
    .default(LIMITS.free)
    .meta({ description: 'limit of v2 for a user of the free tier', unit: 'requests/min' }),
  RATE_LIMIT_PRO: integer(1, 1_000_000)
    .default(LIMITS.pro)
    .meta({ description: 'limit of v2 for a user of the pro tier', unit: 'requests/min' }),
  RATE_LIMIT_INVALID_TOKENS: integer(1, 1_000_000).default(LIMITS.invalidTokens).meta({
    description: 'limit of invalid tokens per client address, then 429',
    unit: 'requests/min',
  }),
  REDIS_URL: url('redis', 'rediss').optional().meta({
    description: 'Redis or Valkey that counts requests; none: counted in memory',
    secret: true,
  }),
  USERS_URL: url('http', 'https')
    .default('http://127.0.0.1:8081')
    .meta({ description: 'address of the users service' }),
  CATALOG_URL: url('http', 'https')
    .default('http://127.0.0.1:8082')
    .meta({ description: 'address of the catalog service' }),
  FIGURES_TIMEOUT_MS: integer(50, 60_000).default(1_000).meta({
    description: 'time limit of one call to another service; there are two tries',
    unit: 'ms',
  }),
};

export type ReportsConfig = ConfigOf<typeof VARIABLES>;

/** Requires exactly one of a secret and a URL of keys. */
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
    ? 'HS256 with JWT_SECRET'
    : `one of ${PUBLIC_KEY_ALGORITHMS.join(', ')} with JWT_JWKS_URL`;
  return [`JWT_ALGORITHM must be ${fit}, got "${algorithm}"`];
}

/** What verifies tokens. */
export function tokenOptionsOf(config: ReportsConfig): TokenOptions {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl = '', JWT_ALGORITHM: name } = config;
  const claims = { issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE };
  if (secret !== undefined) return { secret: () => config.JWT_SECRET ?? secret, ...claims };
  const algorithm = PUBLIC_KEY_ALGORITHMS.find((each) => each === name) ?? 'RS256';
  return { jwksUrl, algorithms: [algorithm], ...claims };
}
