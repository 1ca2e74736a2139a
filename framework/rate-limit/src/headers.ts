import type { Context } from '@fw/core';

import type { Hit, Policy } from './store.ts';

/** Which of the IETF's drafts the answer's headers follow; `draft-10` adds its two to those of `draft-6`. */
export type HeaderDialect = 'draft-6' | 'draft-10';

export const HEADER_DIALECTS: readonly HeaderDialect[] = ['draft-6', 'draft-10'];

/** What the tightest limiter of a request allows. */
export interface RateLimitState {
  readonly policy: string;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until all of the quota is back; of a refused request, until it would pass. */
  readonly resetMs: number;
}

declare module '@fw/core' {
  interface State {
    /** What the limiters of this request have left of its quota. */
    rateLimit?: RateLimitState;
  }
}

/** Stores reckon in microseconds and round up: what is a minute must not become 61 seconds. */
const ROUNDING_MS = 0.002;

/** Whole seconds, rounded up: the form that `Retry-After` takes (RFC 9110 §10.2.3). */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(0, Math.ceil((milliseconds - ROUNDING_MS) / 1000));
}

/** Writes the headers of limiters by `policy`; of several on one route the tightest speaks. */
export function createHeaderWriter(
  policy: Policy,
  dialect: HeaderDialect,
): (ctx: Context, hit: Hit) => void {
  const limit = policy.burst;
  const limitText = String(limit);
  const name = `"${policy.name}"`;
  const window = wholeSeconds(policy.windowMs);
  const policyItem = `${name};q=${limit};w=${window}`;

  return (ctx, hit) => {
    const { remaining, resetMs } = hit;
    const seconds = wholeSeconds(resetMs);
    const tightest = ctx.state.rateLimit;
    if (!tightest || !hit.allowed || remaining < tightest.remaining) {
      ctx.state.rateLimit = { policy: policy.name, limit, remaining, resetMs };
      ctx.set('RateLimit-Limit', limitText);
      ctx.set('RateLimit-Remaining', String(remaining));
      ctx.set('RateLimit-Reset', String(seconds));
    }
    if (dialect === 'draft-10') {
      ctx.append('RateLimit-Policy', policyItem);
      ctx.append('RateLimit', `${name};r=${remaining};t=${seconds}`);
    }
  };
}
