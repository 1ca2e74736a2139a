import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

import type { Context } from '@fw/core';
import { trimBlanks } from '@fw/core/body';
import { aBoolean, aWholeNumber, check, oneOf, readOptions } from '@fw/core/options';

import { readSecrets } from './shared/cookie-secrets.ts';
import { isToken } from './shared/token.ts';

/** Browsers store fewer cookies per site; Node limits the size of all headers to 16 KiB. */
const MAX_COOKIES = 200;

/**
 * The cookies of a request: an object without a prototype. Of several cookies with one name, the first
 * is used, because browsers send the one with the most specific path first (RFC 6265 §5.4). Reads at
 * most 200 cookies; an element without `=` is ignored.
 */
export function readCookies(ctx: Pick<Context, 'get'>): Readonly<Record<string, string>> {
  const cookies: Record<string, string> = Object.create(null);
  for (const pair of pairsOf(ctx)) {
    const name = nameIn(pair);
    if (name !== '') cookies[name] ??= valueIn(pair);
  }
  return cookies;
}

/** The value of the cookie `name`, as in `readCookies`; `undefined` if the client sent none. */
export function readCookie(ctx: Pick<Context, 'get'>, name: string): string | undefined {
  const pair = name === '' ? undefined : pairsOf(ctx).find((each) => nameIn(each) === name);
  return pair && valueIn(pair);
}

function pairsOf(ctx: Pick<Context, 'get'>): readonly string[] {
  return (ctx.get('cookie') ?? '').split(';', MAX_COOKIES);
}

/** The name in a pair; empty without `=`. */
function nameIn(pair: string): string {
  return trimBlanks(pair.slice(0, Math.max(0, pair.indexOf('='))));
}

/** The value in a pair without quotes and percent-encoding; a malformed escape leaves it unchanged. */
function valueIn(pair: string): string {
  const value = trimBlanks(pair.slice(pair.indexOf('=') + 1));
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  const text = isQuoted ? value.slice(1, -1) : value;
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The attributes of a cookie (RFC 6265 §4.1.2 and its successor draft-ietf-httpbis-rfc6265bis). */
export interface CookieOptions {
  /** Lifetime in seconds, at most 400 days. Default: until the browser closes. */
  readonly maxAgeSeconds?: number;
  /** The domain whose subdomains also get the cookie. Default: only the host of the request. */
  readonly domain?: string;
  /** The path prefix for which the browser sends the cookie. Default `/`. */
  readonly path?: string;
  /** Whether the browser sends the cookie only over HTTPS. Default true. */
  readonly secure?: boolean;
  /** Whether scripts of the page cannot read the cookie. Default true. */
  readonly httpOnly?: boolean;
  /** Which requests from other sites include the cookie. Default `lax`: only navigation. */
  readonly sameSite?: 'strict' | 'lax' | 'none';
  /** Whether an embedded page has separate cookies on each embedding site. Default false. */
  readonly partitioned?: boolean;
}

/** The longest lifetime that browsers accept: 400 days (RFC 6265bis §5.5). */
const MAX_AGE_SECONDS = 400 * 86_400;
/** Browsers ignore a cookie whose name and value are longer (RFC 6265bis §5.6). */
const MAX_BYTES = 4_096;
/** Browsers ignore a longer attribute (RFC 6265bis §5.6). */
const MAX_ATTRIBUTE_BYTES = 1_024;

/** Characters that a cookie value may not contain (RFC 6265 §4.1.1), and the escape character. */
const ENCODED = /[^\x21\x23\x24\x26-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]/gu;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

const CHECKS = {
  maxAgeSeconds: aWholeNumber(0, MAX_AGE_SECONDS),
  domain: check('a domain such as "example.com"', (value) => DOMAIN.test(String(value))),
  path: check(
    `a path that starts with "/" without ";" or control characters, of at most ${MAX_ATTRIBUTE_BYTES} characters`,
    (value) =>
      /^\/[\x20-\x3a\x3c-\x7e]*$/.test(String(value)) &&
      String(value).length <= MAX_ATTRIBUTE_BYTES,
  ),
  secure: aBoolean,
  httpOnly: aBoolean,
  sameSite: oneOf(['strict', 'lax', 'none']),
  partitioned: aBoolean,
};

/**
 * Adds a `Set-Cookie` header. The value is percent-encoded where necessary. An error response keeps the
 * header.
 *
 * @throws {TypeError} if the name is not a token, name and value have more than 4,096 bytes, an option
 *   is invalid, or the options contradict the prefix of the name (`__Host-`, `__Secure-`) or each other
 */
export function setCookie(
  ctx: Pick<Context, 'append'>,
  name: string,
  value: string,
  options: CookieOptions = {},
): void {
  if (!isToken(name)) {
    throw new TypeError(`Cannot set cookie "${name}": expected a name of token characters`);
  }
  readOptions(`the cookie "${name}"`, options, CHECKS);
  requireConsistency(name, options);
  const pair = `${name}=${String(value).toWellFormed().replace(ENCODED, encodeURIComponent)}`;
  if (pair.length > MAX_BYTES) {
    throw new TypeError(
      `Cannot set cookie "${name}" of ${pair.length} bytes: expected at most ${MAX_BYTES}`,
    );
  }
  ctx.append('Set-Cookie', pair + attributesOf(options));
}

/**
 * Makes the browser delete the cookie `name`. `path`, `domain` and `partitioned` must have the values
 * with which it was set.
 *
 * @throws {TypeError} like `setCookie`
 */
export function deleteCookie(
  ctx: Pick<Context, 'append'>,
  name: string,
  options: Omit<CookieOptions, 'maxAgeSeconds'> = {},
): void {
  setCookie(ctx, name, '', { ...options, maxAgeSeconds: 0 });
}

/** Throws if browsers would reject the cookie because of a rule that connects several attributes. */
function requireConsistency(name: string, options: CookieOptions): void {
  const { secure = true, path = '/', domain, sameSite, partitioned = false } = options;
  const isHost = /^__host-/i.test(name);
  const needsSecure = [
    [isHost || /^__secure-/i.test(name), 'the prefix of its name requires'],
    [sameSite === 'none', 'sameSite "none" requires'],
    [partitioned, 'partitioned requires'],
  ] as const;
  for (const [applies, reason] of needsSecure) {
    if (applies && !secure) throw new TypeError(`Cannot set cookie "${name}": ${reason} secure`);
  }
  if (isHost && (path !== '/' || domain !== undefined)) {
    throw new TypeError(`Cannot set cookie "${name}": "__Host-" requires path "/" and no domain`);
  }
}

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' };

/** The attributes as they follow the value. */
function attributesOf(options: CookieOptions): string {
  const { maxAgeSeconds, domain, path = '/', secure = true, httpOnly = true } = options;
  const { sameSite = 'lax', partitioned = false } = options;
  let text = '';
  if (maxAgeSeconds !== undefined) text += `; Max-Age=${maxAgeSeconds}`;
  if (domain !== undefined) text += `; Domain=${domain}`;
  text += `; Path=${path}`;
  if (secure) text += '; Secure';
  if (httpOnly) text += '; HttpOnly';
  text += `; SameSite=${SAME_SITE[sameSite]}`;
  if (partitioned) text += '; Partitioned';
  return text;
}

/** Cookies that clients can read, but not change. */
export interface SignedCookies {
  /** The value of the cookie `name`; `undefined` without a cookie or with an invalid signature. */
  read(ctx: Pick<Context, 'get'>, name: string): string | undefined;
  /** Like `setCookie`. A signature of name and value (HMAC-SHA-256, 44 bytes) follows the value. */
  set(ctx: Pick<Context, 'append'>, name: string, value: string, options?: CookieOptions): void;
}

/**
 * Creates functions that set and read signed cookies. The first of `secrets` signs, all of them verify:
 * to replace a secret, put the new one first, and remove the old one when its cookies have expired.
 *
 * @throws {TypeError} if there is no secret or one has less than 32 bytes; the message contains no secret
 */
export function createSignedCookies(secrets: readonly string[]): SignedCookies {
  const keys = readSecrets(secrets, 'Cannot sign cookies');
  const [first] = keys;
  return {
    read(ctx, name) {
      const text = readCookie(ctx, name) ?? '';
      const dot = text.lastIndexOf('.');
      const value = text.slice(0, Math.max(0, dot));
      const signature = text.slice(dot + 1);
      return keys.some((key) => isEqual(sign(key, name, value), signature)) ? value : undefined;
    },
    set(ctx, name, value, options) {
      setCookie(ctx, name, `${value}.${sign(first, name, value)}`, options);
    },
  };
}

/** The name is signed too: the value of one cookie is invalid in another. */
function sign(key: KeyObject, name: string, value: string): string {
  return createHmac('sha256', key).update(`${name}=${value}`).digest('base64url');
}

/** Takes the same time for every wrong signature. */
function isEqual(expected: string, actual: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(actual)];
  return left.length === right.length && timingSafeEqual(left, right);
}
