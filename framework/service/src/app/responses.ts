import { PROBLEM_TYPE, problemOfStatus } from '@fw/core/extension';
import { negotiate } from '@fw/middleware/negotiate';
import type { Context, Middleware } from 'fw';

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

/** The 503 response of operations that use a store, for `endpoint()`. */
export const STORE_UNAVAILABLE = {
  503: {
    description: 'The store is unavailable',
    headers: { 'Retry-After': 'Seconds to wait before the next request' },
  },
};

/** Sends a 406 response to requests whose `Accept` excludes JSON. */
export const onlyJson: Middleware = (ctx, next) => {
  negotiate(ctx, ['application/json']);
  return next();
};

/** The 406 response of `onlyJson`, for `endpoint()`. */
export const NOT_ACCEPTABLE = {
  406: { description: 'Responses are JSON, which `Accept` excludes' },
};
