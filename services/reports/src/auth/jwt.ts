import { createSecretKey } from 'node:crypto';

import { ServiceUnavailableError } from 'fw';
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';

import { remoteKeys } from './jwks.ts';
import { invalidToken, type Tier, type Verify } from './require-auth.ts';

/** The supported algorithms of public keys. */
export const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

export type PublicKeyAlgorithm = (typeof PUBLIC_KEY_ALGORITHMS)[number];

/** How tokens are verified: with a shared secret (HS256), or with the public keys at a URL. */
export type TokenKeys =
  | { readonly secret: string }
  | { readonly jwksUrl: URL; readonly algorithm: PublicKeyAlgorithm };

export interface JwtVerifierOptions {
  readonly keys: TokenKeys;
  /** The expected `iss`. */
  readonly issuer: string;
  /** The expected `aud`, or one of them. */
  readonly audience: string;
  readonly now?: () => Date;
}

/** The clocks of issuer and service differ. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Longer than any token that fits a header. */
const MAX_TOKEN_LENGTH = 8_192;

/** User ids appear in logs and rate-limit keys: visible ASCII, bounded length. */
const USER_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Verifies JSON Web Tokens (RFC 7519) as RFC 8725 recommends: the configuration determines the
 * algorithm, never the token, and `exp`, `nbf`, `iss`, `aud` and `sub` must be valid.
 */
export function createJwtVerifier(options: JwtVerifierOptions): Verify {
  const { keys, issuer, audience, now = () => new Date() } = options;
  const { key, algorithms } = readKeys(keys);
  return async (token) => {
    if (token.length > MAX_TOKEN_LENGTH) throw invalidToken();
    const { payload } = await jwtVerify(token, key, {
      algorithms,
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now(),
    }).catch(rejectToken);
    const { sub, tier } = payload;
    if (typeof sub !== 'string' || !USER_ID.test(sub)) throw invalidToken();
    return { id: sub, tier: readTier(tier) };
  };
}

/** The tier that a token claims; an unknown tier is `free`. */
function readTier(claim: unknown): Tier {
  return claim === 'pro' ? 'pro' : 'free';
}

function readKeys(keys: TokenKeys): { key: JWTVerifyGetKey; algorithms: string[] } {
  if ('secret' in keys) {
    // jose would import any other form of the key for each token.
    const secret = createSecretKey(keys.secret, 'utf8').toCryptoKey(
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    return { key: async () => secret, algorithms: ['HS256'] };
  }
  // RFC 9864 defines a second name for the same algorithm.
  const algorithms = keys.algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [keys.algorithm];
  return { key: remoteKeys(keys.jwksUrl), algorithms };
}

/** Responds 401, except when the token could not be verified because the keys are unavailable. */
function rejectToken(error: unknown): never {
  if (error instanceof ServiceUnavailableError) throw error;
  // jose checks the signature first: only owners of a once valid token learn that it has expired.
  const detail = error instanceof errors.JWTExpired ? 'the bearer token has expired' : undefined;
  throw invalidToken(detail, { cause: error });
}
