import { createPublicKey, type KeyObject } from 'node:crypto';

import { ServiceUnavailableError } from '@fw/errors';
import type { JWK, JWTVerifyGetKey } from 'jose';

import { createRemoteJWKSet, customFetch } from './jose.ts';

export interface RemoteKeysOptions {
  /** How often the keys are read again in the background, in milliseconds. Default 10 min. */
  readonly refreshMs?: number;
  /** How long keys are used while their URL is unavailable, in milliseconds. Default 1 h. */
  readonly maxAgeMs?: number;
  /** Minimum time between a read and another one for an unknown key, in milliseconds. Default 10 s. */
  readonly cooldownMs?: number;
  /** Minimum time between any two reads, also failed ones, in milliseconds. Default 1 s. */
  readonly retryMs?: number;
}

const TIMEOUT_MS = 1_000;
const LIMIT_BYTES = 256 * 1024;

/**
 * Finds the key of a token among those at `url` (RFC 7517 §5). The first token and tokens with an
 * unknown key read the keys; later reads run in the background. If a key is needed and the keys
 * cannot be read, the request fails with 503. Keys that cannot verify a signature safely are ignored,
 * with one warning: a token that names one is not valid.
 */
export function remoteKeys(
  url: URL,
  {
    refreshMs = 600_000,
    maxAgeMs = 3_600_000,
    cooldownMs = 10_000,
    retryMs = 1_000,
  }: RemoteKeysOptions = {},
): JWTVerifyGetKey {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let warnedAbout = '';
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    async [customFetch](address, init) {
      try {
        const nowMs = performance.now();
        // Without this, any token could cause a read while the URL is unavailable.
        if (nowMs - readAtMs < retryMs)
          throw new Error(`The last read was less than ${retryMs} ms ago`);
        readAtMs = nowMs;
        const keySet = await readKeySet(address, init);
        const ignored = keySet.filter((key) => !isUsable(key)).map(describeKey);
        if (ignored.join() !== warnedAbout) {
          warnedAbout = ignored.join();
          if (ignored.length > 0) process.emitWarning(warningAbout(ignored, url));
        }
        return Response.json({ keys: keySet.filter(isUsable) });
      } catch (cause) {
        throw new ServiceUnavailableError(`Cannot read the keys of tokens from ${url.origin}`, {
          cause,
          headers: { 'Retry-After': '1' },
        });
      }
    },
  });

  return (header, token) => {
    if (keys.fresh && performance.now() - readAtMs >= refreshMs) {
      // While the URL is unavailable, the known keys stay valid until `maxAgeMs`.
      keys.reload().catch(() => {});
    }
    return keys(header, token);
  };
}

/** Whether RSA signatures of this key cannot be forged: 2048 bits (RFC 7518 §3.3), and not the exponent 1. */
export function isSafe({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  if (asymmetricKeyType !== 'rsa') return true;
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails;
  return modulusLength >= 2_048 && publicExponent > 2n;
}

/** Whether a key can verify signatures, or is for another purpose: then no token matches it. */
function isUsable(key: unknown): boolean {
  const { kty, use, d } = Object(key);
  if (use === 'enc' || (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP')) return Object(key) === key;
  try {
    return d === undefined && isSafe(createPublicKey({ key: key as JWK, format: 'jwk' }));
  } catch {
    return false;
  }
}

function describeKey(key: unknown): string {
  return JSON.stringify(Object(key).kid ?? null).slice(0, 100);
}

function warningAbout(ignored: readonly string[], { origin }: URL): string {
  const names = ignored.slice(0, 10).join(', ');
  return `bearerToken: ignored keys from ${origin} with the kid ${names}: expected public keys, RSA with 2048 bits or more and an exponent above 2`;
}

/** The keys at an address, whose response is limited. @throws {Error} if it has no list of keys */
async function readKeySet(address: string, init: RequestInit): Promise<readonly unknown[]> {
  const response = await fetch(address, init);
  if (response.status !== 200) throw new Error(`The status is ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LIMIT_BYTES) throw new Error(`The response is longer than ${LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { keys } = Object(JSON.parse(Buffer.concat(chunks).toString()));
  if (!Array.isArray(keys)) throw new Error('The response has no list of keys');
  return keys;
}
