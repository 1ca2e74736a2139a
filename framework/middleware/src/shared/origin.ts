import type { Context } from '@fw/core';
import { check } from '@fw/core/options';

/**
 * An origin in the form of the header `Origin` (RFC 6454 §6.2): lower case, without a default port. Returns
 * `undefined` for text without a host, such as `null`.
 */
export function normalOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || url.host === '' || url.host.includes('*') || url.protocol === 'file:')
    return undefined;
  // `url.origin` is "null" for pages of apps and extensions, such as capacitor://localhost.
  return `${url.protocol}//${url.host}`.toLowerCase();
}

/** Accepts an origin as browsers send it. */
export const anOrigin = check(
  'an origin such as "https://app.example.com"',
  (value) => typeof value === 'string' && normalOrigin(value) === value,
);

/** Whether `origin`, the header of a request, is one of `origins`, which are in normal form. */
export function isListed(origins: readonly string[], origin: string): boolean {
  const normal = normalOrigin(origin);
  return normal !== undefined && origins.includes(normal);
}

/**
 * Whether `origin`, the header of this request, is a page of the requested host. The protocol of the request
 * does not count: behind a proxy that ends TLS it may be unknown.
 */
export function isOwnOrigin(ctx: Context, origin: string): boolean {
  const [, scheme = ''] = /^(https?):/i.exec(origin) ?? [];
  return scheme !== '' && normalOrigin(`${scheme}://${ctx.host}`) === normalOrigin(origin);
}
