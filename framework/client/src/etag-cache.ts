import type { Attempt, RawResponse } from './attempt.ts';

/** What an entry costs besides its texts, in bytes. */
const ENTRY_BYTES = 500;

/** Responses with an ETag, which a conditional request revalidates. */
export interface EtagCache {
  /** The stored response; it becomes the most recently used. */
  find(key: string): RawResponse | undefined;
  /** Stores a response if it may be stored, and evicts the least recently used ones. */
  store(key: string, response: RawResponse): void;
}

/** Creates a cache of at most `limitBytes`. */
export function createEtagCache(limitBytes: number): EtagCache {
  // A Map is ordered by insertion: the first entry is the least recently used.
  const entries = new Map<string, RawResponse>();
  let usedBytes = 0;

  function remove(key: string): void {
    const response = entries.get(key);
    if (response && entries.delete(key)) usedBytes -= bytesOf(key, response);
  }

  return {
    find(key) {
      const response = entries.get(key);
      if (response && entries.delete(key)) entries.set(key, response);
      return response;
    },
    store(key, response) {
      remove(key);
      const bytes = bytesOf(key, response);
      if (!isStorable(response) || bytes > limitBytes) return;
      entries.set(key, response);
      usedBytes += bytes;
      for (const oldest of entries.keys()) {
        if (usedBytes <= limitBytes) return;
        remove(oldest);
      }
    },
  };
}

/**
 * Sends a read with the ETag of the stored response, and returns that response with new headers if the
 * server confirms that it is current (304). Other requests, and those with an `If-None-Match` of the
 * caller, are sent unchanged.
 */
export async function revalidate(
  cache: EtagCache,
  attempt: Attempt,
  send: (attempt: Attempt) => Promise<RawResponse>,
): Promise<RawResponse> {
  const headers = new Headers(attempt.headers);
  if (attempt.method !== 'GET' || headers.has('If-None-Match')) return send(attempt);
  const key = cacheKeyOf(attempt);
  const stored = cache.find(key);
  if (stored) headers.set('If-None-Match', stored.headers.get('ETag') ?? '');
  const response = await send({ ...attempt, headers });
  const current = stored && response.status === 304 ? update(stored, response) : response;
  cache.store(key, current);
  return current;
}

/** Headers of one connection, and those that describe the stored text. */
const OMITTED =
  'connection keep-alive proxy-authenticate proxy-authentication-info te trailer transfer-encoding upgrade content-encoding content-length content-range content-type';

/** The stored response with the headers of the 304 response that confirms it (RFC 9111 §3.2). */
function update(stored: RawResponse, { headers: received }: RawResponse): RawResponse {
  const headers = new Headers(stored.headers);
  const isSame = !received.has('ETag') || opaqueTag(received) === opaqueTag(headers);
  const omitted = `${OMITTED} ${received.get('Connection')}`.toLowerCase().split(/[ ,]+/);
  const updates = [...received].filter(([name]) => isSame && !omitted.includes(name));
  for (const [name] of updates) headers.delete(name);
  for (const [name, value] of updates) headers.append(name, value); // several of Set-Cookie
  return { ...stored, headers };
}

/** Weak and strong tags are compared alike (RFC 9110 §13.1.2). */
function opaqueTag(headers: Headers): string | undefined {
  return headers.get('ETag')?.replace('W/', '');
}

/** Requests with different headers, such as `Authorization`, have different responses. */
function cacheKeyOf({ url, headers }: Attempt): string {
  const ignored = ['x-request-id', 'traceparent', 'tracestate'];
  const fields = [...headers].filter(([name]) => !ignored.includes(name));
  return JSON.stringify([url.href, ...fields]);
}

function isStorable({ status, headers }: RawResponse): boolean {
  const isForbidden = /\bno-store\b/i.test(headers.get('Cache-Control') ?? '');
  return status === 200 && headers.has('ETag') && !isForbidden;
}

/** An engine stores a character in one or two bytes. */
function bytesOf(key: string, { text, headers }: RawResponse): number {
  return ENTRY_BYTES + 2 * (key.length + text.length + [...headers].join().length);
}
