import { ServiceUnavailableError } from '@fw/errors';
import type { JWTVerifyGetKey } from 'jose';

import { createRemoteJWKSet, customFetch, errors } from './jose.ts';

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
 * cannot be read, the request fails with 503.
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
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    async [customFetch](address, init) {
      const nowMs = performance.now();
      // Without this, any token could cause a read while the URL is unavailable.
      if (nowMs - readAtMs < retryMs)
        throw new Error(`The last read was less than ${retryMs} ms ago`);
      readAtMs = nowMs;
      return fetchBounded(address, init);
    },
  });

  return async (header, token) => {
    if (keys.fresh && performance.now() - readAtMs >= refreshMs) {
      // While the URL is unavailable, the known keys stay valid until `maxAgeMs`.
      keys.reload().catch(() => {});
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      throw new ServiceUnavailableError(`Cannot read the keys of tokens from ${url.origin}`, {
        cause: error,
        headers: { 'Retry-After': '1' },
      });
    }
  };
}

/** Whether the keys are known, and none of them, or more than one, matches the token. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
  );
}

/** `fetch` with a limit for the response body. */
async function fetchBounded(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LIMIT_BYTES) throw new Error(`The response is longer than ${LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status });
}
