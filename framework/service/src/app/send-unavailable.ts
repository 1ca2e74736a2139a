import { PROBLEM_TYPE, problemOfStatus } from '@fw/core/extension';
import type { Context } from 'fw';

/**
 * Sends a 503 problem response with `Retry-After: 1`; `extensions` are further members of the problem. It
 * does not throw, because creating and logging an error per rejected request would be the largest cost.
 */
export function sendUnavailable(ctx: Context, extensions: object = {}): void {
  ctx.status = 503;
  ctx.set('Content-Type', PROBLEM_TYPE);
  ctx.set('Retry-After', '1');
  ctx.json({ ...problemOfStatus(503, ctx.requestId), ...extensions });
}
