import { memoryStore, type RateLimitStore, rateLimit } from '@fw/rate-limit';
import type { Middleware } from 'fw';

import type { ServiceRuntime } from '../app/service-app.ts';
import type { CountedLimiter } from '../metrics/metrics.ts';
import { type AuthConfig, tokenOptionsOf } from './token-variables.ts';

export interface InvalidTokenLimit {
  /** The name of the service. */
  readonly name: string;
  readonly perMinute: number;
  /** Default: in memory, which each replica counts alone. */
  readonly store?: RateLimitStore;
}

/** Bounds the memory to about 2 MB. */
const MAX_ADDRESSES = 10_000;

/**
 * Limits invalid tokens per client address, for the option `failureLimiter` of `bearerToken()`. An address above the
 * limit gets 429 before its token is verified; requests with a valid token or without a token do not count.
 */
export function limitInvalidTokens({
  name,
  perMinute,
  store = memoryStore({ maxKeys: MAX_ADDRESSES }),
}: InvalidTokenLimit): CountedLimiter {
  return rateLimit({
    max: perMinute,
    window: '1m',
    name: `${name}-invalid-tokens`,
    countOnly: [401],
    skip: (ctx) => ctx.get('authorization') === undefined,
    store,
  });
}

/**
 * Creates middleware that requires a valid token and sets `ctx.state.user`; `undefined` if `AUTH` is `none`. Invalid
 * tokens of all routes with this middleware count together. Needs the package `jose`.
 */
export async function createTokenGuard(
  config: AuthConfig,
  { name = 'service', metrics }: Pick<ServiceRuntime, 'name' | 'metrics'>,
): Promise<Middleware | undefined> {
  if (config.AUTH === 'none') return undefined;
  // Loaded on demand: without `AUTH`, `jose` would only use memory.
  const { bearerToken } = await import('@fw/middleware/bearer-token');
  const limiter = limitInvalidTokens({ name, perMinute: config.RATE_LIMIT_INVALID_TOKENS });
  return bearerToken({
    ...tokenOptionsOf(config),
    failureLimiter: metrics?.countDecisions(`${name}-invalid-tokens`, limiter) ?? limiter,
    user: ({ sub }) => ({ id: sub }),
  });
}
