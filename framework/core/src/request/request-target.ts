import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

import { BadRequestError, HttpError } from '../response/http-error.ts';
import { normalizePath } from './path.ts';

/** The value of a query key: a string, or an array of all values if the key is repeated. */
export type QueryValue = string | string[] | undefined;
/** The decoded query of a request, by key. */
export type Query = Record<string, QueryValue>;

/** The parts of a request's first line and its `Host`, after all checks. */
export interface RequestTarget {
  /** Normalised. */
  readonly path: string;
  /** Without the question mark; not decoded. */
  readonly query: string;
  readonly host: string;
}

/** The target of a request that `readTarget` rejects. */
export const UNREADABLE: RequestTarget = { path: '/', query: '', host: '' };

/**
 * Reads the request target. Rejects requests before any middleware except `outermost` runs: an
 * ambiguous path, an invalid query, a missing, repeated or malformed `Host`, and any transfer coding
 * except `chunked`.
 *
 * @throws {HttpError} with the status 400 or 501
 */
export function readTarget(req: IncomingMessage): RequestTarget {
  if (req.httpVersionMajor !== 1) {
    throw new BadRequestError('The request line must name HTTP/1.1 or HTTP/1.0');
  }
  const host = readHead(req);
  const url = req.url ?? '';
  return url.charCodeAt(0) === 0x2f ? readOriginForm(url, host) : readOtherForm(url, req.method);
}

/** `/path?query` (RFC 9112 §3.2.1). */
function readOriginForm(url: string, host: string): RequestTarget {
  const mark = url.indexOf('?');
  const path = normalizePath(mark < 0 ? url : url.slice(0, mark));
  if (path === undefined) {
    throw new BadRequestError(
      'The path must be percent-encoded UTF-8 without ".", "..", "\\" or NUL segments',
    );
  }
  const query = mark < 0 ? '' : url.slice(mark + 1);
  if (query !== '') checkQuery(query);
  return { path, query, host };
}

/** `http://host/path`, as clients send it to proxies, or `*` (RFC 9112 §3.2.2, §3.2.4). */
function readOtherForm(url: string, method: string | undefined): RequestTarget {
  if (url === '*' && method === 'OPTIONS') return { path: '*', query: '', host: '' };
  const [, host = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (!isHost(host)) {
    throw new BadRequestError('The request target must be a path or an absolute http URL');
  }
  return readOriginForm(rest.startsWith('/') ? rest : `/${rest}`, host);
}

function checkQuery(query: string): void {
  if (!needsCheck(query)) return;
  if (/[^!-~]|#/.test(query)) {
    throw new BadRequestError('The query must be percent-encoded and followed by no fragment');
  }
  parseQuery(query);
}

const MAX_PAIRS = 1000;

/**
 * Parses a query in form encoding.
 *
 * @throws {BadRequestError} on a malformed escape and on more than 1,000 keys
 */
export function parseQuery(text: string): Query {
  const pairs = text.split('&', MAX_PAIRS + 1);
  if (pairs.length > MAX_PAIRS) {
    throw new BadRequestError(`The query has more than ${MAX_PAIRS} keys`);
  }
  return parsePairs(pairs, 'query');
}

/**
 * Parses pairs in form encoding: `+` is a space, a repeated key becomes an array, and empty pairs are
 * ignored. The result has no prototype. An error names the text as `subject`.
 *
 * @throws {BadRequestError} on a malformed escape
 */
export function parsePairs(pairs: readonly string[], subject: string): Query {
  // Of Object.create(null), V8 would make a dictionary, whose JSON takes longer.
  const query: Query = Object.setPrototypeOf({}, null);
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decodeField(equals < 0 ? pair : pair.slice(0, equals), subject);
    const value = equals < 0 ? '' : decodeField(pair.slice(equals + 1), subject);
    const present = query[key];
    if (present === undefined) query[key] = value;
    else if (typeof present === 'string') query[key] = [present, value];
    else present.push(value);
  }
  return query;
}

function decodeField(field: string, subject: string): string {
  const spaced = field.includes('+') ? field.replaceAll('+', ' ') : field;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new BadRequestError(`The ${subject} contains a malformed percent-escape`);
  }
}

const HASH = 0x23;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const LAST_PRINTABLE = 0x7e;

/**
 * Whether parsing this query can fail: then it is parsed before any middleware except `outermost`
 * runs. Other queries are parsed on the first use of `ctx.query`.
 */
function needsCheck(text: string): boolean {
  let pairs = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === PERCENT || code === HASH || code > LAST_PRINTABLE) return true;
    if (code === AMPERSAND && ++pairs > MAX_PAIRS) return true;
  }
  return false;
}

/** Checks the framing of a request, and returns its `Host`, which is optional in HTTP/1.0 (RFC 9112 §3.2). */
function readHead(req: IncomingMessage): string {
  const names = req.rawHeaders;
  let host: string | undefined;
  for (let at = 0; at < names.length; at += 2) {
    const name = names[at];
    if (name?.length === 17) checkTransferEncoding(req, name, names[at + 1] ?? '');
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== undefined) throw new BadRequestError('A request must have one Host header');
    host = names[at + 1] ?? '';
  }
  if (host === undefined) {
    if (req.httpVersionMinor === 0) return '';
    throw new BadRequestError('A request must have one Host header');
  }
  if (host !== validHost && !isHost(host)) {
    throw new BadRequestError('The Host header must be a host and an optional port');
  }
  validHost = host;
  return host;
}

/** The last valid `Host`: nearly all requests to a server have the same. */
let validHost: string | undefined;

/**
 * Rejects codings that the parser accepts before `chunked` but does not decode, and chunks in HTTP/1.0,
 * which make the framing unreliable (RFC 9112 §6.1).
 */
function checkTransferEncoding(req: IncomingMessage, name: string, value: string): void {
  if (name.toLowerCase() !== 'transfer-encoding') return;
  const isChunked = value.toLowerCase() === 'chunked';
  if (isChunked && req.httpVersionMinor > 0) return;
  throw new HttpError(isChunked ? 400 : 501, 'The only transfer coding is chunked, in HTTP/1.1', {
    headers: { Connection: 'close' },
  });
}

/** 1 for the characters of a host name or an IPv4 address (RFC 3986 §3.2.2), without percent escapes. */
const HOST_CHARACTER = new Uint8Array(128);
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=") {
  HOST_CHARACTER[character.charCodeAt(0)] = 1;
}

/** Whether `text` is `host` or `host:port`; an IPv6 address is in brackets. */
export function isHost(text: string): boolean {
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    return isAddress(text.slice(1, end)) && endsWithPort(text, end + 1);
  }
  let end = 0;
  while (HOST_CHARACTER[text.charCodeAt(end)] === 1) end++;
  return end > 0 && endsWithPort(text, end);
}

/** Whether `text` is an IPv6 address without a zone, which is only valid on one machine (RFC 6874). */
function isAddress(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** Whether `text` ends at `at`, or with `:` and a port up to 65535. */
function endsWithPort(text: string, at: number): boolean {
  if (at === text.length) return true;
  return /^:\d{0,5}$/.test(text.slice(at)) && Number(text.slice(at + 1)) <= 65_535;
}
