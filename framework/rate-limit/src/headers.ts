import type { Context } from '@fw/core';

import type { Hit, Policy } from './store.ts';

/** The values of the option `headers`. */
export const HEADER_DIALECTS = ['draft-6', 'draft-10'] as const;

/** The IETF draft that defines the response headers; `draft-10` adds two headers to those of `draft-6`. */
export type HeaderDialect = (typeof HEADER_DIALECTS)[number];

/** What the strictest limiter of a request allows. */
export interface RateLimitState {
  readonly policy: string;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the whole quota is available; for a rejected request, until it would be allowed. */
  readonly resetMs: number;
}

declare module '@fw/core' {
  interface State {
    /** The strictest limit of this request, set by `rateLimit`. */
    rateLimit?: RateLimitState;
  }
}

/** Stores may round up to a microsecond; one minute must not become 61 seconds. */
const ROUNDING_MS = 0.002;

/** Whole seconds, rounded up: the form that `Retry-After` takes (RFC 9110 §10.2.3). */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(0, Math.ceil((milliseconds - ROUNDING_MS) / 1000));
}

/** Creates a function that sets the headers of a limiter. Every limiter counts; the headers report the strictest. */
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
    const strictest = ctx.state.rateLimit;
    if (!strictest || !hit.allowed || remaining < strictest.remaining) {
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
