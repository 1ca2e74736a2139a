import * as z from 'zod';

import type { ConfigOf } from '../config/read-config.ts';
import { integer, oneOf, url } from '../config/variables.ts';

/** The supported algorithms of public keys. */
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

/** Default of `RATE_LIMIT_INVALID_TOKENS`. */
export const INVALID_TOKENS_PER_MINUTE = 30;

/** The variables of a service that verifies tokens; `audience` is its name at the issuer. */
export function tokenVariables({ audience }: { readonly audience: string }) {
  return {
    JWT_SECRET: z
      .string()
      .refine((value) => Buffer.byteLength(value) >= 32, 'must have at least 32 bytes')
      .optional()
      .meta({ description: 'secret that signs tokens with HS256', secret: true }),
    JWT_JWKS_URL: url('https', 'http')
      .optional()
      .meta({ description: 'address of the public keys that verify tokens, instead of a secret' }),
    JWT_ALGORITHM: oneOf(['HS256', ...PUBLIC_KEY_ALGORITHMS])
      .optional()
      .meta({
        description:
          'algorithm of the public keys: RS256, ES256 or EdDSA; with a secret only HS256',
        default: 'RS256',
      }),
    JWT_ISSUER: z.string().default('fw').meta({ description: 'expected issuer (iss) of tokens' }),
    JWT_AUDIENCE: z
      .string()
      .default(audience)
      .meta({ description: 'expected audience (aud) of tokens' }),
    RATE_LIMIT_INVALID_TOKENS: integer(1, 1_000_000).default(INVALID_TOKENS_PER_MINUTE).meta({
      description: 'limit of invalid tokens per client address, then 429',
      unit: 'requests/min',
    }),
  };
}

/** The values of `tokenVariables`. */
export type TokenConfig = ConfigOf<ReturnType<typeof tokenVariables>>;

/** `tokenVariables` of a service that requires tokens only with `AUTH=required`. */
export function authVariables(options: { readonly audience: string }) {
  return {
    AUTH: oneOf(['none', 'required']).default('none').meta({
      description: 'required: all routes except figures and documents need a bearer token',
    }),
    ...tokenVariables(options),
  };
}

/** The values of `authVariables`. */
export type AuthConfig = ConfigOf<ReturnType<typeof authVariables>>;

/**
 * A rule: requires exactly one of a secret and a URL of keys, and an algorithm that fits. With `AUTH=none` it
 * requires that there is neither: a service with a key that it does not use would only look protected.
 */
export function requireTokenKey(config: TokenConfig & Partial<AuthConfig>): string[] {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl, JWT_ALGORITHM: algorithm } = config;
  const hasSecret = secret !== undefined;
  if (config.AUTH === 'none') {
    const unused = (['JWT_SECRET', 'JWT_JWKS_URL'] as const).filter((name) => config[name]);
    return unused.map((name) => `${name} is set, but AUTH is "none": expected AUTH=required`);
  }
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

/** What verifies tokens: options of `bearerToken()`. */
export interface TokenOptions {
  readonly secret?: string | (() => string);
  readonly jwksUrl?: string;
  readonly algorithms?: readonly (typeof PUBLIC_KEY_ALGORITHMS)[number][];
  readonly issuer: string;
  readonly audience: string;
}

/** What verifies tokens, from a configuration that `requireTokenKey` accepts. */
export function tokenOptionsOf(config: TokenConfig): TokenOptions {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl = '', JWT_ALGORITHM: name } = config;
  const claims = { issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE };
  if (secret !== undefined) return { secret: () => config.JWT_SECRET ?? secret, ...claims };
  const algorithm = PUBLIC_KEY_ALGORITHMS.find((each) => each === name) ?? 'RS256';
  return { jwksUrl, algorithms: [algorithm], ...claims };
}
