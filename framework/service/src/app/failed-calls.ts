import { ProblemError } from '@fw/client';
import { hasRun } from '@fw/core/extension';
import { type Middleware, ServiceUnavailableError } from 'fw';

/** Responds with 503 if a call to another service fails and the handler does not catch the error. */
export const failedCalls: Middleware = (_ctx, next) => {
  const running = next();
  return hasRun(running) ? running : running.catch(throwUnavailable);
};

function throwUnavailable(cause: unknown): never {
  if (!(cause instanceof ProblemError)) throw cause;
  const headers = { 'Retry-After': String(cause.retryAfterSeconds ?? 1) };
  throw new ServiceUnavailableError(cause.message, { cause, headers });
}
