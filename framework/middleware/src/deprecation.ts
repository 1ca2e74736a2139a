import type { Middleware } from '@fw/core';

export interface DeprecationOptions {
  /** The path prefix of the old version. */
  readonly from: string;
  /** The path prefix of the new version, under which the same paths exist. */
  readonly to: string;
  /** When the old version becomes deprecated; may be in the future. */
  readonly since: Date;
}

/**
 * Announces on every response that a newer version of the same path exists: `Deprecation` (RFC 9745)
 * and `Link` with the relation `successor-version` (RFC 5829). Mount it at `from`:
 * `app.use('/api/v1', deprecation({ from: '/api/v1', to: '/api/v2', since }))`.
 */
export function deprecation({ from, to, since }: DeprecationOptions): Middleware {
  const date = `@${Math.floor(since.getTime() / 1000)}`;
  return (ctx, next) => {
    const successor = to + ctx.path.slice(from.length).replace(/[<>"]/g, encodeURIComponent);
    ctx.set('Deprecation', date);
    ctx.append('Link', `<${successor}>; rel="successor-version"`);
    return next();
  };
}
