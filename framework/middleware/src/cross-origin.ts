import type { Context } from '@fw/core';

/** Methods that change nothing (RFC 9110 §9.2.1, RFC 10008). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'QUERY'];

/**
 * Whether a page of another origin, and none of the `trusted` ones, sent this request to change something
 * (CSRF). Browsers send `Sec-Fetch-Site`, older ones only `Origin`; a request with neither comes from
 * another program, which has no cookies of a user. Pages cannot set these headers (Fetch §4.6).
 */
export function isCrossOriginChange(ctx: Context, trusted: readonly string[]): boolean {
  if (SAFE_METHODS.includes(ctx.method)) return false;
  const origin = ctx.get('origin');
  if (origin !== undefined && trusted.includes(origin)) return false;
  const site = ctx.get('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== ctx.host;
}
