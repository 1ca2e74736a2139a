import type { Middleware } from '@fw/core';
import { hasRun } from '@fw/core/extension';
import { MAX_TIMER_MS } from '@fw/core/options';
import { ServiceUnavailableError } from '@fw/errors';

/**
 * Responds with 503 and `Retry-After: 1` to a request that takes longer than `timeoutMs`. Its handler
 * continues, but its response is discarded.
 *
 * @throws {TypeError} if `timeoutMs` is not a positive delay that a timer can have
 */
export function timeout(timeoutMs: number): Middleware {
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new TypeError(`Cannot limit time to "${timeoutMs}": expected 1 to ${MAX_TIMER_MS} ms`);
  }
  return (_ctx, next) => {
    const running = next();
    if (hasRun(running)) return running;
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(lateError(timeoutMs)), timeoutMs).unref();
      running.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  };
}

function lateError(timeoutMs: number): ServiceUnavailableError {
  const headers = { 'Retry-After': '1' };
  return new ServiceUnavailableError(`No response within ${timeoutMs} ms`, { headers });
}
