import { negotiate } from '@fw/middleware/negotiate';
import type { Middleware } from 'fw';

/** Sends a 406 response to requests whose `Accept` excludes JSON. */
export const onlyJson: Middleware = (ctx, next) => {
  negotiate(ctx, ['application/json']);
  return next();
};

/** The 406 response of `onlyJson`, for `endpoint()`. */
export const NOT_ACCEPTABLE = {
  406: { description: 'Responses are JSON, which `Accept` excludes' },
};
