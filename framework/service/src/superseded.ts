import type { Middleware } from 'fw';

/** Since when every `/api/v1` is deprecated. */
export const V1_DEPRECATED_SINCE = new Date('2026-12-01T00:00:00Z');

export interface SupersededOptions {
  /** Where the old version is mounted. */
  readonly from: string;
  /** Where the same paths are found in the new one. */
  readonly to: string;
  /** Since when, or from when on, the old version is deprecated. */
  readonly since: Date;
}

/**
 * Says on every answer that a newer version exists, and where: `Deprecation` (RFC 9745) and `Link`
 * with the relation `successor-version` (RFC 5829). Mount it at `from`.
 */
export function superseded({ from, to, since }: SupersededOptions): Middleware {
  const deprecation = `@${Math.floor(since.getTime() / 1000)}`;
  return (ctx, next) => {
    const successor = to + ctx.path.slice(from.length).replace(/[<>"]/g, encodeURIComponent);
    ctx.set('Deprecation', deprecation);
    ctx.append('Link', `<${successor}>; rel="successor-version"`);
    return next();
  };
}
