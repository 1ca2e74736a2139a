import { ServiceUnavailableError } from 'fw';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';

export interface RemoteKeysOptions {
  /** How old the keys may get before they are read again, while the old ones still count. Default 10 min. */
  readonly refreshMs?: number;
  /** How old they may get at most, when they cannot be read again. Default 1 h. */
  readonly maxAgeMs?: number;
  /** How long after one reading an unknown key is no reason for another. Default 10 s. */
  readonly cooldownMs?: number;
  /** How long after a failure no request is sent to the address. Default 1 s. */
  readonly retryMs?: number;
  /** A clock for these times, in milliseconds. */
  readonly now?: () => number;
}

const TIMEOUT_MS = 1_000;
const LIMIT_BYTES = 256 * 1024;

/**
 * Finds the key of a token among those at `url` (RFC 7517 §5). They are read when the first token
 * comes, then now and then in the background, and at once when a token names a key that is not among
 * them. Where they are needed and cannot be read, that is a 503 and says nothing of the token.
 */
export function remoteKeys(
  url: URL,
  {
    refreshMs = 600_000,
    maxAgeMs = 3_600_000,
    cooldownMs = 10_000,
    retryMs = 1_000,
    now = () => performance.now(),
  }: RemoteKeysOptions = {},
): JWTVerifyGetKey {
  let retryAtMs = 0;
  let refreshAtMs = Number.POSITIVE_INFINITY;
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    [customFetch]: async (address, init) => {
      if (now() < retryAtMs) throw new Error('The last try has just failed');
      const response = await fetch(address, init);
      const { status } = response;
      const body = await readBounded(response);
      refreshAtMs = now() + refreshMs;
      return new Response(body, { status });
    },
  });
  const fail = (error: unknown) => {
    if (now() >= retryAtMs) retryAtMs = now() + retryMs;
    // Also after a response that has arrived: its status or content may be the failure.
    refreshAtMs = retryAtMs;
    return error;
  };

  return async (header, token) => {
    if (now() >= refreshAtMs) {
      refreshAtMs = now() + retryMs;
      keys.reload().catch(fail);
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      throw new ServiceUnavailableError(`Cannot read the keys of tokens from ${url.origin}`, {
        cause: fail(error),
        headers: { 'Retry-After': '1' },
      });
    }
  };
}

/** Whether the keys are at hand, and none of them, or more than one, fits the token. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
  );
}

async function readBounded(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LIMIT_BYTES) throw new Error(`The response is longer than ${LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
