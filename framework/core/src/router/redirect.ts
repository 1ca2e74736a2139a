import type { Middleware } from '../context.ts';
import { annotate } from '../middleware.ts';
import { requireRedirect } from '../response/status.ts';
import { namesIn, readRoutePattern } from './pattern.ts';

/** Whether a redirect with `status` keeps the method and so applies to every method (RFC 9110 §15.4.8). */
export function keepsMethod(status: number): boolean {
  return status === 307 || status === 308;
}

/**
 * Redirects from the pattern `from` to `to`, a path or an http URL. A segment of `to` that starts with
 * `:name`, and a final `*`, are replaced by that parameter of `from`; any other colon is text. The
 * query of the request is kept.
 *
 * @throws {TypeError} if `to` is not such a target or names a parameter that `from` does not have
 * @throws {RangeError} if `status` is not 301, 302, 303, 307 or 308
 */
export function redirectTo(from: string, to: string, status: number): Middleware {
  const action = `Cannot redirect ${from} to "${to}"`;
  requireRedirect(status, action);
  const names = namesIn(readRoutePattern('GET', from));
  const [, origin, path] =
    /^(https?:\/\/[^/?#:]+(?::\d+)?)?((?:\/(?!\/|\\)[^#]*)?)$/i.exec(to) ?? [];
  if (path === undefined || (origin === undefined && path === '')) {
    throw new TypeError(`${action}: expected a path or an http URL, without a fragment`);
  }
  const [, pathname = '', query = ''] = /^([^?]*)(.*)$/s.exec(path) ?? [];
  const parts = pathname.split(/(?<=\/)(:[A-Za-z_][\w-]*|\*$)/);
  const tokens = parts.map((text, index) => ({
    text: index % 2 === 1 ? text.replace(/^:/, '') : text,
    isName: index % 2 === 1,
  }));
  for (const { text, isName } of tokens) {
    if (isName && !names.includes(text)) {
      throw new TypeError(`${action}: "${text}" must be a parameter of ${from}`);
    }
  }
  const redirect: Middleware = (ctx) => {
    const target = tokens
      .map(({ text, isName }) => (isName ? encodeValue(text, ctx.params[text]) : text))
      .join('');
    ctx.redirect(withQuery((origin ?? '') + target + query, ctx.url), status);
  };
  return annotate(redirect, { responses: { [status]: { headers: { Location: 'Where to go' } } } });
}

/** Encodes a parameter as one segment, a wildcard as several, so that no value can start a host name. */
function encodeValue(name: string, value = ''): string {
  if (name !== '*') return encodeURIComponent(value);
  return value.split('/').filter(Boolean).map(encodeURIComponent).join('/');
}

function withQuery(target: string, url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0 || mark === url.length - 1) return target;
  return target + (target.includes('?') ? '&' : '?') + url.slice(mark + 1);
}
