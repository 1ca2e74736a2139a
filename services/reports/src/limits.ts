import { memoryStore, type RateLimitStore, rateLimit, tieredRateLimit } from '@fw/rate-limit';
import { INVALID_TOKENS_PER_MINUTE } from '@fw/service';
import { limitInvalidTokens } from '@fw/service/tokens';
import type { Context, Logger, Middleware } from 'fw';

import type { Tier } from './authentication.ts';

/** Requests per minute. Variables replace all but `v1`. */
export const LIMITS = {
  /** Of a user in version 1. */
  v1: 100,
  /** Of a user of this tier in version 2. */
  free: 100,
  pro: 1_000,
  /** With invalid tokens, by client address. */
  invalidTokens: INVALID_TOKENS_PER_MINUTE,
} as const;

/** Requests per minute: in version 2 by tier, and with an invalid token by client address. */
export type PerMinute = Readonly<Record<Tier | 'invalidTokens', number>>;

/** The rate limiters: one per version for users, and one for invalid tokens in both versions. */
export interface Limits {
  /** Runs before authentication. */
  readonly invalidTokens: Middleware;
  readonly v1: Middleware;
  readonly v2: Middleware;
}

/**
 * Creates the rate limiters: a fixed limit per user in v1, the limit of the tier in v2, and a
 * limit of invalid tokens per client address.
 */
export function createLimits(perMinute: PerMinute, store: RateLimitStore): Limits {
  const shared = { keyGenerator: keyOf, store };
  return {
    invalidTokens: limitInvalidTokens({
      name: 'reports',
      perMinute: perMinute.invalidTokens,
      store,
    }),
    v1: rateLimit({ max: LIMITS.v1, window: '1m', name: 'reports-v1', ...shared }),
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

/** The limiters of users run after authentication. */
function keyOf({ state }: Context): string {
  return `user:${state.user?.id}`;
}

/**
 * Counts in the Redis or Valkey server at the address that `readUrl` returns for each connection, exactly
 * across all replicas; without an address, in this process. While the server is unavailable, each replica
 * counts alone.
 */
export async function openLimitStore(readUrl: () => string | undefined, logger?: Logger) {
  const url = readUrl();
  if (url === undefined) return { store: memoryStore(), close: async () => {} };
  // Loaded on demand: the client is as large as the rest of the service.
  const { openRedisLimitStore } = await import('./redis-limit-store.ts');
  return openRedisLimitStore(() => readUrl() ?? url, logger);
}
