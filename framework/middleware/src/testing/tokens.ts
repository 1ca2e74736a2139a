import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';

import { type CryptoKey, type JWTPayload, SignJWT } from 'jose';

/** The values that tokens in tests must have. */
export const ISSUER = 'https://issuer.example';
export const AUDIENCE = 'reports';
export const SECRET = 'a secret of at least 32 bytes, made for tests';

/** The claims of a valid token of the user `ada`, with `changes`. */
export function claimsOf(changes: Readonly<Record<string, unknown>> = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', tier: 'pro', iat: now, exp: now + 600 };
  return { ...claims, ...changes };
}

/** Signs a token. Default: HS256 with `SECRET`. */
export function sign(
  claims: JWTPayload = claimsOf(),
  { alg = 'HS256', key = new TextEncoder().encode(SECRET), ...header }: SignOptions = {},
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(key);
}

export interface SignOptions {
  readonly alg?: string;
  readonly key?: CryptoKey | Uint8Array;
  readonly kid?: string;
}

/** A token with any header and payload, signed with `SECRET` as HS256. */
export function forge(header: unknown, payload: unknown = claimsOf()): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

/** Encodes one part of a token. */
export function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** A new public key; `bits` is the length of an RSA key. */
export function publicKeyOf(
  type: 'rsa' | 'P-256' | 'P-384' | 'P-521' | 'ed25519',
  bits = 2_048,
): KeyObject {
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: bits }).publicKey;
  if (type === 'ed25519') return generateKeyPairSync('ed25519').publicKey;
  return generateKeyPairSync('ec', { namedCurve: type }).publicKey;
}
