import type { Context, Parts } from '@fw/core';
import { type Check, MAX_TIMER_MS, milliseconds } from '@fw/core/options';

/** How long a connection may last in milliseconds: for all, or for the one that a request opens. */
export type MaxAge<P extends Parts> = number | ((ctx: Context<P>) => number);

export const HOUR_MS = 3_600_000;

export const aMaxAge: Check = {
  expected: `1 to ${MAX_TIMER_MS} milliseconds, or a function that returns them`,
  accepts: (value) => typeof value === 'function' || (value !== 0 && milliseconds.accepts(value)),
};

/**
 * The delay of the timer that ends the connection of `ctx`: 0 if its time has already passed.
 *
 * @throws {TypeError} if the function returns no number, such as that of a token without `exp`
 */
export function maxAgeOf<P extends Parts>(maxAgeMs: MaxAge<P>, ctx: Context<P>): number {
  if (typeof maxAgeMs === 'number') return maxAgeMs;
  const ageMs: unknown = maxAgeMs(ctx);
  if (typeof ageMs !== 'number' || Number.isNaN(ageMs)) {
    throw new TypeError(
      `Cannot limit the age of a connection to "${ageMs}": expected milliseconds`,
    );
  }
  return Math.min(Math.max(0, ageMs), MAX_TIMER_MS);
}
