import { ProblemError } from '@fw/client';
import { type Middleware, ServiceUnavailableError } from 'fw';

/** Responds with 503 if a call to another service fails and the handler does not catch the error. */
export const failedCalls: Middleware = async (_ctx, next) => {
  try {
    await next();
  } catch (cause) {
    if (!(cause instanceof ProblemError)) throw cause;
    const headers = { 'Retry-After': String(cause.retryAfterSeconds ?? 1) };
    throw new ServiceUnavailableError(cause.message, { cause, headers });
  }
};
