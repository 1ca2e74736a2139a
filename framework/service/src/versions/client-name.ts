import type { Context } from 'fw';

/** The name of a client without `X-Client-Id` and `User-Agent`. */
const UNNAMED = 'none';

/**
 * The program that sends a request, for statistics: `X-Client-Id` if it is 1 to 64 characters of
 * `[A-Za-z0-9._-]`, otherwise the first product of `User-Agent` without its version (RFC 9110 §10.1.5),
 * otherwise `none`. Any client can send any name, so do not use it for access control.
 */
export function clientNameOf(ctx: Pick<Context, 'get'>): string {
  const id = ctx.get('x-client-id');
  if (id !== undefined && /^[\w.-]{1,64}$/.test(id)) return id;
  const [product] = /^[\w.-]{1,64}(?=[/ ]|$)/.exec(ctx.get('user-agent') ?? '') ?? [];
  return product ?? UNNAMED;
}
