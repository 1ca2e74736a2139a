import { PROBLEM_TYPE, problemOfStatus } from '@fw/core/extension';
import type { Context } from 'fw';

/**
 * Answers 503, to be tried again in a second; `extensions` are members of the problem. Recorded and
 * not thrown: with many to refuse, an error to log for each would be the most work of all.
 */
export function answerUnavailable(ctx: Context, extensions: object = {}): void {
  ctx.status = 503;
  ctx.set('Content-Type', PROBLEM_TYPE);
  ctx.set('Retry-After', '1');
  ctx.json({ ...problemOfStatus(503, ctx.requestId), ...extensions });
}
