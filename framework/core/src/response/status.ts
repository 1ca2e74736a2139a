import { http } from '../node/http.ts';

const CODES: Readonly<Record<number, string>> = {
  413: 'PAYLOAD_TOO_LARGE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
};

/** Reason phrases of RFC 9110 that differ from Node's older ones. */
const TITLES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The reason phrase of `status` (RFC 9110 §15). */
export function titleOf(status: number): string {
  return TITLES[status] ?? http.STATUS_CODES[status] ?? 'Unknown';
}

/** The code of an error without one of its own. */
export function codeOf(status: number): string {
  return (
    CODES[status] ??
    titleOf(status)
      .toUpperCase()
      .replace(/[^A-Z]+/g, '_')
  );
}

/** @throws {RangeError} if `status` is no redirect (RFC 9110 §15.4); `action` begins the message */
export function requireRedirect(status: number, action: string): void {
  if (![301, 302, 303, 307, 308].includes(status)) {
    throw new RangeError(
      `${action} with status "${String(status)}": expected 301, 302, 303, 307 or 308`,
    );
  }
}

/** Methods of RFC 9110, RFC 5789 and RFC 10008. */
const KNOWN_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'QUERY',
  'TRACE',
  'CONNECT',
]);

/** The status of a request without a matching route: 404, or 501 for an unknown method (RFC 9110 §9.1). */
export function unmatchedStatus(method: string): number {
  return KNOWN_METHODS.has(method) ? 404 : 501;
}
