import { PROBLEM_TYPE, problemOfStatus } from '@fw/core/extension';
import { negotiate } from '@fw/middleware/negotiate';
import { annotate, type Context, type Middleware } from 'fw';

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

/** Sends a 406 response to requests whose `Accept` excludes JSON. */
export const onlyJson: Middleware = annotate(
  (ctx, next) => {
    negotiate(ctx, ['application/json']);
    return next();
  },
  { errors: [{ status: 406, code: 'NOT_ACCEPTABLE' }] },
);
