import { type RateLimitStore, rateLimit, tieredRateLimit } from '@fw/rate-limit';
import type { Context, Middleware } from 'fw';

import type { Tier } from './tier.ts';

export interface LimitsOptions {
  /** Requests a minute in the second version, by tier. Default 100 and 1,000. */
  readonly perMinute?: Readonly<Record<Tier, number>>;
  /** Where requests are counted. Default: in the memory of this process. */
  readonly store?: RateLimitStore;
}

/** The limiters of the two versions, which count apart. */
export interface Limits {
  readonly v1: Middleware;
  readonly v2: Middleware;
}

/** Limits what one user may ask for: in v1 100 requests a minute, in v2 what their tier allows. */
export function createLimits({ perMinute = DEFAULTS, store }: LimitsOptions = {}): Limits {
  const shared = { keyGenerator: callerOf, ...(store && { store }) };
  return {
    v1: rateLimit({ max: 100, window: '1m', name: 'reports-v1', ...shared }),
    v2: tieredRateLimit({
      tiers: {
        free: { max: perMinute.free, window: '1m', name: 'reports-v2-free' },
        pro: { max: perMinute.pro, window: '1m', name: 'reports-v2-pro' },
      },
      tierResolver: ({ state }) => (state.user?.tier === 'pro' ? 'pro' : 'free'),
      defaultTier: 'free',
      ...shared,
    }),
  };
}

const DEFAULTS = { free: 100, pro: 1_000 };

/** The user; without one, the client's address. */
function callerOf({ state, ip }: Context): string {
  return state.user ? `user:${state.user.id}` : `ip:${ip}`;
}
