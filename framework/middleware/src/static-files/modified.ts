import type { Context } from '@fw/core';

import { preconditionFailed } from '../preconditions.ts';

/** A date header in milliseconds; NaN without the header or if it is malformed, which is ignored. */
export function dateOf(ctx: Pick<Context, 'get'>, name: string): number {
  return Date.parse(ctx.get(name) ?? '');
}

/** Whether the client has this state. `If-None-Match` takes precedence (RFC 9110 §13.1.3). */
export function isUnmodified(ctx: Pick<Context, 'get'>, modifiedMs: number): boolean {
  return ctx.get('if-none-match') === undefined && modifiedMs <= dateOf(ctx, 'if-modified-since');
}

/**
 * `If-Match` takes precedence (RFC 9110 §13.1.4).
 *
 * @throws {PreconditionFailedError} if the file was changed after `If-Unmodified-Since`
 */
export function requireUnmodified(ctx: Pick<Context, 'get'>, modifiedMs: number): void {
  const isLater = modifiedMs > dateOf(ctx, 'if-unmodified-since');
  if (isLater && ctx.get('if-match') === undefined) throw preconditionFailed();
}
