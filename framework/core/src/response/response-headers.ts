import { http } from '../node/http.ts';

/** Names and values of response headers in turn. */
export type ResponseHeaders = (string | string[])[];

/** Headers that only the server may set. A `Content-Length` of the program is replaced instead. */
export const FRAMING_HEADER = /^(?:transfer-encoding|trailer)$/i;

/** Headers that describe one body. Policies such as `Content-Security-Policy` apply to errors too. */
const CONTENT_HEADER =
  /^(?:content-(?:type|length|encoding|language|range|disposition|location|digest|md5)|repr-digest|digest|etag|last-modified|expires|location|accept-ranges)$/i;

/** The index of header `name` in `headers`; -1 if it is not set. */
export function findHeader(headers: ResponseHeaders, name: string): number {
  for (let at = 0; at < headers.length; at += 2) {
    const present = headers[at] as string;
    if (present === name) return at;
    if (present.length === name.length && present.toLowerCase() === name.toLowerCase()) return at;
  }
  return -1;
}

/** @throws {TypeError} if the name or the value is invalid */
export function setHeader(
  headers: ResponseHeaders,
  name: string,
  value: string | number | readonly string[],
): void {
  if (!validNames.has(name)) checkName(name);
  const values = Array.isArray(value)
    ? value.map((each) => textOf(name, each))
    : textOf(name, value);
  if (typeof values === 'string') http.validateHeaderValue(name, values);
  else for (const text of values) http.validateHeaderValue(name, text);
  const at = findHeader(headers, name);
  if (at < 0) headers.push(name, values);
  else headers[at + 1] = values;
}

/** A header value as text. Rejects `undefined` and objects, which would be sent as `undefined` and `[object Object]`. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || typeof value === 'object') {
    throw new TypeError(
      `Cannot set header "${name}" to "${String(value)}": expected a string, a number or a list of strings`,
    );
  }
  return String(value);
}

/** Valid header names that were checked before: programs use few different ones. */
const validNames = new Set<string>();
const MAX_VALID_NAMES = 1_000;

function checkName(name: string): void {
  http.validateHeaderName(name);
  if (FRAMING_HEADER.test(name)) {
    throw new TypeError(`Cannot set header "${name}": only the server sets it`);
  }
  if (validNames.size < MAX_VALID_NAMES) validNames.add(name);
}

/**
 * The headers that an error response keeps. A `Cache-Control` that allows reuse becomes `no-store`,
 * because caches may store even a 404 without it (RFC 9111 §4.2.2).
 */
export function keepForError(headers: ResponseHeaders): ResponseHeaders {
  const kept = headers.filter((_, at) => !CONTENT_HEADER.test(String(headers[at - (at % 2)])));
  const at = findHeader(kept, 'Cache-Control');
  if (at >= 0 && !preventsReuse(String(kept[at + 1]))) kept[at + 1] = 'no-store';
  return kept;
}

/** Whether `cacheControl` prevents reuse without validation; `no-cache="…"` only applies to fields. */
function preventsReuse(cacheControl: string): boolean {
  const directives = cacheControl.replace(/"(?:[^"\\]|\\.)*"?/g, '""').split(',');
  return directives.some((directive) => /^\s*no-(?:store|cache)\s*$/i.test(directive));
}

/** Percent-encodes characters that a URI may not contain (RFC 3986 §2); keeps valid escapes. */
export function encodeLocation(url: string): string {
  return url
    .toWellFormed()
    .replace(/%(?![\dA-Fa-f]{2})|[^!#$%&'()*+,\-./\d:;=?@A-Z[\]_a-z~]/gu, (text) =>
      encodeURIComponent(text),
    );
}
