import { createPrivateKey, createPublicKey, KeyObject } from 'node:crypto';
import { type Context, type Guard, type Middleware, markFactories } from '@fw/core';
import {
  aFunction,
  aListOf,
  badOption,
  check,
  oneOf,
  readOptions,
  required,
} from '@fw/core/options';
import { ForbiddenError, ServiceUnavailableError, UnauthorizedError } from '@fw/errors';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';

import { createAuthentication } from '../shared/authentication.ts';
import { errors, jwtVerify } from './jose.ts';
import { isSafe, remoteKeys } from './remote-keys.ts';
import { rememberTokens, type Verify } from './verified-tokens.ts';

/** Signature algorithms with public keys (RFC 7518 §3.1, RFC 8037 §3.1). */
const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

export type PublicKeyAlgorithm = (typeof PUBLIC_KEY_ALGORITHMS)[number];

/** The claims of a verified token. */
export interface TokenClaims extends JWTPayload {
  readonly sub: string;
  readonly exp: number;
}

/** The user of a verified token, unless the option `user` returns another one. */
export interface TokenUser {
  /** The claim `sub`: 1 to 255 characters of ASCII (OpenID Connect Core §2), without control characters. */
  readonly id: string;
  /** The scopes in the claim `scope` or `scp`. */
  readonly scopes: readonly string[];
}

export interface BearerTokenOptions<User extends { readonly id: string } = TokenUser> {
  /** The address of the issuer's public keys (RFC 7517 §5): `jwks_uri` of OpenID Connect. Requires no other key. */
  readonly jwksUrl?: string | URL;
  /** In place of `jwksUrl`: one public key, as PEM or as a key object. */
  readonly publicKey?: string | KeyObject;
  /**
   * In place of a public key: the shared secret of HS256, at least 32 bytes (RFC 7518 §3.2). A function is called for
   * each token, so that the secret may change: tokens of the previous one are then invalid.
   */
  readonly secret?: string | (() => string);
  /** The accepted algorithms of public keys. Default RS256, ES256 and EdDSA. */
  readonly algorithms?: readonly PublicKeyAlgorithm[];
  /** The expected claim `iss`. */
  readonly issuer: string;
  /** The expected claim `aud`, or one of its values: the name of this API at the issuer. */
  readonly audience: string;
  /** The scopes that a token needs, all of them. Default none. */
  readonly scopes?: readonly string[];
  /**
   * Returns the user, which becomes `ctx.state.user`; `undefined` rejects the token, for example because
   * it was revoked. Default: the id and the scopes.
   */
  readonly user?: (claims: TokenClaims) => User | undefined | Promise<User | undefined>;
  /**
   * Counts requests that get 401, and rejects those over its limit before their token is verified.
   * Default: a `rateLimit()` of 30 per minute and client address, in memory.
   */
  readonly failureLimiter?: Middleware;
  /** Returns the current time, for tests. Default: that of the system. */
  readonly now?: () => Date;
}

const OWNER = 'bearerToken()';

/** A scope: visible ASCII without quotes and backslash (RFC 6749 §3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const aText = check(
  'a string that is not empty',
  (value) => typeof value === 'string' && value !== '',
);

/** `readKey` checks keys: the error must not contain them. */
const aKey = check('a key', () => true);

const CHECKS = {
  jwksUrl: check('an address that starts with "https:" or "http:"', (value) =>
    /^https?:$/.test(URL.parse(String(value))?.protocol ?? ''),
  ),
  publicKey: aKey,
  secret: aKey,
  algorithms: check(
    `a list of ${PUBLIC_KEY_ALGORITHMS.join(', ')}`,
    (value) => aListOf('', oneOf(PUBLIC_KEY_ALGORITHMS)).accepts(value) && String(value) !== '',
  ),
  issuer: required(aText),
  audience: required(aText),
  scopes: aListOf(
    'a list of scopes such as ["reports:read"]',
    check('', (value) => typeof value === 'string' && SCOPE.test(value)),
  ),
  user: aFunction,
  failureLimiter: aFunction,
  now: aFunction,
};

/** The accepted clock skew: the clock of the issuer may differ by this. */
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * Requires a JSON Web Token in `Authorization: Bearer …`, verified as RFC 8725 recommends: the options
 * determine the algorithm, never the token; `exp`, `iss`, `aud` and `sub` must be valid, as must `nbf` if
 * present. Other requests get 401, or 403 if a scope is missing, with `WWW-Authenticate` (RFC 6750 §3).
 * Needs the package `jose`.
 *
 * ```ts
 * const authenticate = bearerToken({
 *   jwksUrl: 'https://login.example.com/.well-known/jwks.json',
 *   issuer: 'https://login.example.com/',
 *   audience: 'https://api.example.com',
 * });
 * router.get('/me', authenticate, (ctx) => ({ id: ctx.state.user.id }));
 * ```
 *
 * The keys at a URL are read with the first token, every 10 minutes, and for a token with an unknown key
 * at most every 10 s. They stay valid for an hour while the URL is unavailable. If no keys are known, the
 * response is 503.
 *
 * @throws {TypeError} if an option is invalid, or not exactly one of `jwksUrl`, `publicKey` and `secret`
 *   is set; the message contains no key
 */
export function bearerToken<User extends { readonly id: string } = TokenUser>(
  options: BearerTokenOptions<User>,
): Guard<{ readonly user: User }>;
export function bearerToken(options: BearerTokenOptions): Guard<{ readonly user: TokenUser }> {
  const {
    issuer,
    audience,
    scopes = [],
    user: readUser = toUser,
    now,
  } = readOptions(OWNER, options, CHECKS);
  const { key, algorithms } = readKey(options);

  const verify: Verify = (token, keyOf) =>
    jwtVerify(token, keyOf, {
      algorithms,
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      ...(now && { currentDate: now() }),
    });
  const readClaims = rememberTokens(key, verify, () => now?.().getTime() ?? Date.now());

  const authenticate = async (ctx: Context): Promise<TokenUser> => {
    const payload = await readClaims(readToken(ctx)).catch(rejectToken);
    if (!hasUserId(payload)) throw invalidToken();
    requireScopes(scopesOf(payload), scopes);
    const user = await readUser(payload);
    if (!user) throw invalidToken(); // also null, which many stores return
    return user;
  };
  return createAuthentication(authenticate, {
    failureLimiter: options.failureLimiter,
    metadata: {
      security: [{ bearer: scopes }],
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      responses: {
        ...(scopes.length > 0 && {
          403: { headers: { 'WWW-Authenticate': 'How to authenticate' } },
        }),
        ...(options.jwksUrl !== undefined && { 503: {} }),
      },
    },
  });
}

markFactories({ bearerToken });

/** The key, and the algorithms for which it may be used. */
function readKey(options: BearerTokenOptions): { key: JWTVerifyGetKey; algorithms: string[] } {
  const { jwksUrl, publicKey, secret } = options;
  if ([jwksUrl, publicKey, secret].filter((each) => each !== undefined).length !== 1) {
    throw new TypeError(`${OWNER} needs exactly one of the options jwksUrl, publicKey and secret`);
  }
  if (secret !== undefined) {
    if (options.algorithms) {
      const expected = 'it for public keys only: a secret verifies HS256';
      throw badOption(OWNER, { name: 'algorithms', value: options.algorithms, expected });
    }
    return { key: followSecret(secret), algorithms: ['HS256'] };
  }
  const algorithms: string[] = [...(options.algorithms ?? ['RS256', 'ES256', 'EdDSA'])];
  // RFC 9864 defines a second name for the same algorithm.
  if (algorithms.includes('EdDSA')) algorithms.push('Ed25519');
  if (jwksUrl !== undefined) return { key: remoteKeys(readUrl(jwksUrl)), algorithms };
  const key = readPublicKey(publicKey);
  if (!algorithms.some((algorithm) => isKeyFor(algorithm, key))) {
    // Else every token would get 401, and soon every client 429.
    throw new TypeError(
      `Cannot read option publicKey of ${OWNER}: expected a key for ${algorithms.join(', ')}; RSA needs 2048 bits and an exponent above 2`,
    );
  }
  return { key: () => key, algorithms };
}

const MIN_SECRET_BYTES = 32;

/** Returns the key of the current secret; imports each secret once. */
function followSecret(secret: unknown): () => Promise<CryptoKey> {
  const read = typeof secret === 'function' ? (secret as () => unknown) : () => secret;
  let last = read();
  let key = readSecret(last);
  return () => {
    const current = read();
    if (current !== last) key = readSecret(current);
    last = current;
    return key;
  };
}

/** Imports the secret: jose would import any other form of it for each token. */
function readSecret(secret: unknown): Promise<CryptoKey> {
  const bytes = Buffer.from(typeof secret === 'string' ? secret : '');
  if (bytes.length < MIN_SECRET_BYTES) {
    throw new TypeError(
      `Cannot read option secret of ${bytes.length} bytes of ${OWNER}: expected a string of at least ${MIN_SECRET_BYTES} bytes`,
    );
  }
  // Else a configuration with the wrong option would accept tokens that anyone can sign.
  if (/^\s*-----BEGIN /.test(String(secret))) {
    throw new TypeError(`Cannot read option secret of ${OWNER}: expected no PEM; use publicKey`);
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
}

function readPublicKey(given: unknown): KeyObject {
  try {
    const key = given instanceof KeyObject ? given : readPem(String(given));
    if (key.type === 'public') return key;
  } catch {} // its message can contain a part of the key
  throw new TypeError(`Cannot read option publicKey of ${OWNER}: expected a public key as PEM`);
}

/** The algorithm of each elliptic curve, by the name of OpenSSL. */
const ALGORITHM_OF_CURVE: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Whether `key` can verify `algorithm` (RFC 7518 §3.3 to §3.5, RFC 8037 §3.1). */
function isKeyFor(algorithm: string, key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  if (type === 'rsa') return /^[RP]S/.test(algorithm) && isSafe(key);
  if (type === 'ec') return ALGORITHM_OF_CURVE[details.namedCurve ?? ''] === algorithm;
  return type === 'ed25519' && algorithm.startsWith('Ed');
}

/** `fetch` rejects an address with a password, and its error, which is logged, contains it. */
function readUrl(given: string | URL): URL {
  const url = new URL(given);
  if (url.username === '' && url.password === '') return url;
  throw new TypeError(`Cannot read option jwksUrl of ${OWNER}: expected no user and password`);
}

/** A public key or a certificate; Node would also derive the public key of a private one. */
function readPem(pem: string): KeyObject {
  return /PRIVATE/.test(pem) ? createPrivateKey(pem) : createPublicKey(pem);
}

/** Longer than any token that fits a header. */
const MAX_TOKEN_LENGTH = 8_192;

/** The token of the `Authorization` header (RFC 6750 §2.1), in base64url without padding (RFC 7515 §2). */
function readToken(ctx: Context): string {
  const header = ctx.get('authorization');
  if (header === undefined) throw unauthorized('a bearer token is required', 'Bearer');
  const [, token] = /^bearer +([\w.-]+)$/i.exec(header) ?? [];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) throw invalidToken();
  return token;
}

/** Responds 401, except when the token could not be verified because the keys are unavailable. */
function rejectToken(error: unknown): never {
  if (error instanceof ServiceUnavailableError) throw error;
  // jose checks the signature first: only owners of a once valid token learn that it has expired.
  const detail = error instanceof errors.JWTExpired ? 'the bearer token has expired' : undefined;
  throw invalidToken(detail, { cause: error });
}

/** The 401 error for an invalid token. The client gets `detail`, but not `cause`. */
function invalidToken(
  detail = 'the bearer token is not valid',
  options?: ErrorOptions,
): UnauthorizedError {
  const challenge = `Bearer error="invalid_token", error_description="${detail}"`;
  return unauthorized(detail, challenge, options);
}

function unauthorized(message: string, challenge: string, options?: ErrorOptions) {
  return new UnauthorizedError(message, {
    ...options,
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** User ids appear in logs and in keys of rate limits. A distinguished name contains blanks. */
const USER_ID = /^[\x20-\x7e]{1,255}$/;

function hasUserId(claims: JWTPayload): claims is TokenClaims {
  return typeof claims.sub === 'string' && USER_ID.test(claims.sub);
}

function toUser(claims: TokenClaims): TokenUser {
  return { id: claims.sub, scopes: scopesOf(claims) };
}

/** The scopes in `scope` (RFC 8693 §4.2), or in `scp`, as some issuers name it. */
function scopesOf({ scope, scp }: JWTPayload): readonly string[] {
  const scopes = scope ?? scp;
  if (typeof scopes === 'string') return scopes.split(' ').filter(Boolean);
  return Array.isArray(scopes) ? scopes.filter((each) => typeof each === 'string') : [];
}

/** @throws {ForbiddenError} naming all `required` scopes, if one is missing (RFC 6750 §3.1) */
function requireScopes(granted: readonly string[], required: readonly string[]): void {
  const missing = required.filter((scope) => !granted.includes(scope));
  if (missing.length === 0) return;
  const challenge = `Bearer error="insufficient_scope", scope="${required.join(' ')}"`;
  throw new ForbiddenError(`the bearer token lacks the scope ${missing.join(' ')}`, {
    code: 'INSUFFICIENT_SCOPE',
    headers: { 'WWW-Authenticate': challenge },
  });
}
