import type { Context } from '@fw/core';
import { trimBlanks } from '@fw/core/extension';

/** Browsers store fewer cookies per site; Node limits the size of all headers to 16 KiB. */
const MAX_COOKIES = 200;

/**
 * The cookies of a request: an object without a prototype. Of several cookies with one name, the first
 * is used, because browsers send the one with the most specific path first (RFC 6265 §5.4). Reads at
 * most 200 cookies; an element without `=` is ignored.
 */
export function readCookies(ctx: Pick<Context, 'get'>): Readonly<Record<string, string>> {
  const cookies: Record<string, string> = Object.create(null);
  for (const pair of (ctx.get('cookie') ?? '').split(';', MAX_COOKIES)) {
    const equals = pair.indexOf('=');
    const name = trimBlanks(pair.slice(0, Math.max(0, equals)));
    if (name !== '') cookies[name] ??= decode(trimBlanks(pair.slice(equals + 1)));
  }
  return cookies;
}

/** The value of the cookie `name`; `undefined` if the client sent none. */
export function readCookie(ctx: Pick<Context, 'get'>, name: string): string | undefined {
  return readCookies(ctx)[name];
}

/** The value without quotes and percent-encoding; a malformed escape leaves the value unchanged. */
function decode(value: string): string {
  const text = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
