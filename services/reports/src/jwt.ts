import { createSecretKey } from 'node:crypto';

import { ServiceUnavailableError } from 'fw';
import { errors, jwtVerify } from 'jose';

import { remoteKeys } from './jwks.ts';
import { type AuthenticatedUser, invalidToken, type Verify } from './require-auth.ts';
import { readTier } from './tier.ts';
import { TokenMemory } from './token-memory.ts';

/** The algorithms of public keys. */
export const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

export type PublicKeyAlgorithm = (typeof PUBLIC_KEY_ALGORITHMS)[number];

/** What tokens are checked with: a shared secret (HS256), or the public keys at an address. */
export type TokenKeys =
  | { readonly secret: string }
  | { readonly jwksUrl: URL; readonly algorithm: PublicKeyAlgorithm };

export interface JwtVerifierOptions {
  readonly keys: TokenKeys;
  /** Who makes the tokens: `iss`. */
  readonly issuer: string;
  /** Whom they are made for: one of `aud`. */
  readonly audience: string;
  readonly now?: () => Date;
}

/** Two clocks are seldom one. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Far above any token that fits a header. */
const LONGEST_TOKEN = 8_192;

/** An id goes into logs and keys: no blanks, no line breaks, no end in sight. */
const USER_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Checks JSON Web Tokens (RFC 7519) as RFC 8725 asks for: the algorithm is what the configuration
 * says, whatever the token does, and `exp`, `nbf`, `iss`, `aud` and `sub` must hold. A token that comes
 * again within half a minute is known, until it expires.
 */
export function jwtVerifier({
  keys,
  issuer,
  audience,
  now = () => new Date(),
}: JwtVerifierOptions): Verify {
  const { key, algorithms } = readKeys(keys);
  const memory = new TokenMemory<CheckedToken>();
  return async (token) => {
    if (token.length > LONGEST_TOKEN) throw invalidToken();
    const known = memory.find(token);
    if (known && !hasExpired(known)) return known.user;
    const checked = await check(token);
    memory.add(token, checked);
    return checked.user;
  };

  async function check(token: string): Promise<CheckedToken> {
    const options = {
      algorithms: [...algorithms],
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now(),
    };
    const { payload } = await jwtVerify(token, key, options).catch(refuse);
    const { sub, tier, exp = 0 } = payload;
    if (typeof sub !== 'string' || !USER_ID.test(sub)) throw invalidToken();
    return { user: { id: sub, tier: readTier(tier) }, exp };
  }

  function hasExpired({ exp }: CheckedToken): boolean {
    return exp <= now().getTime() / 1000 - CLOCK_TOLERANCE_SECONDS;
  }
}

/** Whose token it is, and until when, in seconds since 1970. */
interface CheckedToken {
  readonly user: AuthenticatedUser;
  readonly exp: number;
}

function readKeys(keys: TokenKeys) {
  if ('secret' in keys) {
    const secret = createSecretKey(keys.secret, 'utf8');
    return { key: () => secret, algorithms: ['HS256'] };
  }
  // RFC 9864 has a second name for the same algorithm.
  const algorithms = keys.algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [keys.algorithm];
  return { key: remoteKeys(keys.jwksUrl), algorithms };
}

/** Whatever is wrong with a token is its bearer's concern, unless it could not be checked at all. */
function refuse(error: unknown): never {
  if (error instanceof ServiceUnavailableError) throw error;
  // The signature is checked first, so this is told only to those who once had a valid one.
  const detail = error instanceof errors.JWTExpired ? 'the bearer token has expired' : undefined;
  throw invalidToken(detail, { cause: error });
}
