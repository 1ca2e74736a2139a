import { memoryStore, type RateLimitStore, rateLimit, tieredRateLimit } from '@fw/rate-limit';
import type { Context, Middleware } from 'fw';

import type { Tier } from './tier.ts';

export interface LimitsOptions {
  /** Requests a minute in the second version, by tier. Default 100 and 1,000. */
  readonly perMinute?: Readonly<Record<Tier, number>>;
  /** Requests a minute with an invalid token, by client address. Default 30. */
  readonly invalidTokens?: number;
  /** Where requests are counted. Default: in the memory of this process. */
  readonly store?: RateLimitStore;
}

/** The limiters: of users in each version, which count apart, and of invalid tokens in both. */
export interface Limits {
  /** Precedes authentication. */
  readonly invalidTokens: Middleware;
  readonly v1: Middleware;
  readonly v2: Middleware;
}

/**
 * Limits the requests of each user, in v1 to 100 a minute and in v2 to what their tier allows, and the
 * requests of each client address that have an invalid token. An address over that limit gets 429
 * before its token is verified; valid tokens never count, nor do requests without a token.
 */
export function createLimits({
  perMinute = DEFAULTS,
  invalidTokens = 30,
  store = memoryStore(),
}: LimitsOptions = {}): Limits {
  const shared = { keyGenerator: callerOf, store };
  return {
    invalidTokens: rateLimit({
      max: invalidTokens,
      window: '1m',
      name: 'reports-invalid-tokens',
      countOnly: [401],
      skip: (ctx) => ctx.get('authorization') === undefined,
      store,
    }),
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
