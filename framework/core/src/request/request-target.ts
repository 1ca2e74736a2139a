import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { RequestTarget } from '../request-context.ts';
import { BadRequestError } from '../response/http-error.ts';
import { normalizePath } from './path.ts';
import { isSuspectQuery, parseQuery } from './query.ts';

/**
 * Reads what a request is about, and refuses what no middleware should have to think of: a path with
 * more than one reading, a query that cannot be read, a missing, repeated or malformed `Host`.
 *
 * @throws {BadRequestError}
 */
export function readTarget(req: IncomingMessage): RequestTarget {
  if (req.httpVersionMajor !== 1) {
    throw new BadRequestError('The request line must name HTTP/1.1 or HTTP/1.0');
  }
  const host = readHost(req);
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

/** `http://host/path` as proxies are sent it, or `*` (RFC 9112 §3.2.2, §3.2.4). */
function readOtherForm(url: string, method: string | undefined): RequestTarget {
  if (url === '*' && method === 'OPTIONS') return { path: '*', query: '', host: '' };
  const [, host = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (!isHost(host)) {
    throw new BadRequestError('The request target must be a path or an absolute http URL');
  }
  return readOriginForm(rest.startsWith('/') ? rest : `/${rest}`, host);
}

function checkQuery(query: string): void {
  if (!isSuspectQuery(query)) return;
  if (/[^!-~]|#/.test(query)) {
    throw new BadRequestError('The query must be percent-encoded and followed by no fragment');
  }
  parseQuery(query);
}

/** The one `Host` of a request (RFC 9112 §3.2); HTTP/1.0 may do without. */
function readHost(req: IncomingMessage): string {
  const names = req.rawHeaders;
  let host: string | undefined;
  for (let at = 0; at < names.length; at += 2) {
    const name = names[at];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== undefined) throw new BadRequestError('A request must have one Host header');
    host = names[at + 1] ?? '';
  }
  if (host === undefined) {
    if (req.httpVersionMinor === 0) return '';
    throw new BadRequestError('A request must have one Host header');
  }
  if (!isHost(host))
    throw new BadRequestError('The Host header must be a host and an optional port');
  return host;
}

/** 1 for what a registered name or an IPv4 address holds (RFC 3986 §3.2.2), but escapes: no DNS name has any. */
const HOST_CHARACTER = new Uint8Array(128);
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=") {
  HOST_CHARACTER[character.charCodeAt(0)] = 1;
}

/** Whether `text` is `host` or `host:port`; an IPv6 address stands in brackets. */
export function isHost(text: string): boolean {
  let at = text.charCodeAt(0) === 0x5b ? text.indexOf(']') + 1 : 0;
  if (at > 0 && !isAddress(text.slice(1, at - 1))) return false;
  const nameStart = at;
  if (at === 0) while (HOST_CHARACTER[text.charCodeAt(at)] === 1) at++;
  if (at === nameStart && nameStart === 0) return false;
  return at === text.length || isPort(text, at);
}

/** An IPv6 address without a zone, which means nothing to another machine (RFC 6874). */
function isAddress(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** Whether `:` and up to five digits, at most 65535, stand from `at` to the end. */
function isPort(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== 0x3a || text.length - at > 6) return false;
  let port = 0;
  for (let digit = at + 1; digit < text.length; digit++) {
    const value = text.charCodeAt(digit) - 0x30;
    if (value < 0 || value > 9) return false;
    port = port * 10 + value;
  }
  return port <= 65_535;
}
