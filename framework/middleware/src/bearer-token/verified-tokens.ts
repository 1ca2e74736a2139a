import { hash } from 'node:crypto';

import type { JWTHeaderParameters, JWTPayload, JWTVerifyGetKey } from 'jose';

/** A token is verified again after this time, or at its expiry. */
const MAX_AGE_MS = 5_000;

const MAX_TOKENS = 1_000;

/** Verifies a token with a key that it takes from `key`, such as `jwtVerify` of jose. */
export type Verify = (
  token: string,
  key: JWTVerifyGetKey,
) => Promise<{ readonly payload: JWTPayload; readonly protectedHeader: JWTHeaderParameters }>;

interface Entry {
  readonly header: JWTHeaderParameters;
  readonly key: unknown;
  /** Parsed for each request: what a handler changes is not seen by the next one. */
  readonly claims: string;
  readonly endMs: number;
}

/**
 * Remembers verified tokens for 5 s, at most 1,000 by their SHA-256, because a signature costs more than the rest of
 * a request. A token is remembered neither after its expiry nor once `key` returns another key for it: tokens of a
 * revoked key or of a previous secret are not valid. A token that is not valid is never remembered.
 */
export function rememberTokens(
  key: JWTVerifyGetKey,
  verify: Verify,
  nowMs: () => number,
): (token: string) => Promise<JWTPayload> {
  const entries = new Map<string, Entry>();

  /** The claims of a remembered token, if it is still valid. */
  async function recall(id: string): Promise<JWTPayload | undefined> {
    const entry = entries.get(id);
    if (!entry) return undefined;
    const isValid = nowMs() < entry.endMs && (await key(entry.header, NO_TOKEN)) === entry.key;
    if (isValid) return JSON.parse(entry.claims);
    entries.delete(id);
    return undefined;
  }

  return async (token) => {
    const id = hash('sha256', token, 'base64url');
    const known = await recall(id);
    if (known) return known;
    let used: unknown;
    const { payload, protectedHeader: header } = await verify(token, async (...of) => {
      const found = await key(...of);
      used = found;
      return found;
    });
    const endMs = Math.min(nowMs() + MAX_AGE_MS, (payload.exp ?? 0) * 1_000);
    const [oldest] = entries.keys();
    if (entries.size >= MAX_TOKENS && oldest !== undefined) entries.delete(oldest);
    entries.set(id, { header, key: used, claims: JSON.stringify(payload), endMs });
    return payload;
  };
}

/** The keys depend only on the header. */
const NO_TOKEN = { payload: '', signature: '' };
