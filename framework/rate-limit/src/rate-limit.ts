import { annotate, type Context, type Middleware, markFactories, type Parts } from '@fw/core';
import {
  aFunction,
  anObject,
  aString,
  badOption,
  check,
  oneOf,
  readOptions,
  required,
} from '@fw/core/options';

import { isAvailable } from './failover.ts';
import { wholeSeconds } from './headers.ts';
import {
  createLimiter,
  LIMITER_CHECKS,
  type LimiterOptions,
  type StoredLimiterOptions,
} from './limiter.ts';
import { memoryStore } from './memory-store.ts';
import { createPolicy, POLICY_CHECKS, type PolicyOptions } from './policy.ts';
import type { Policy } from './store.ts';

/** A middleware that limits requests. */
export interface RateLimiter<P extends Parts = Parts> extends Middleware<P> {
  /** Whether the store counts the requests; `false` while it fails and `onStoreError` decides. */
  isStoreAvailable(): boolean;
}

export interface RateLimitOptions<P extends Parts = Parts>
  extends PolicyOptions,
    LimiterOptions<P> {}

/**
 * Limits requests per key: a request over the limit gets a 429 response.
 *
 * ```ts
 * app.use(rateLimit({ max: 100, window: '1m' }));
 * ```
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function rateLimit<P extends Parts = Parts>(options?: RateLimitOptions<P>): RateLimiter<P>;
export function rateLimit(options: RateLimitOptions = {}): RateLimiter {
  readOptions('rateLimit()', options, { ...POLICY_CHECKS, ...LIMITER_CHECKS });
  const policy = createPolicy('rateLimit()', options);
  const { store = memoryStore() } = options;
  const stored = { ...options, store };
  return describe(createLimiter(policy, stored), stored, [policy]);
}

export interface TieredRateLimitOptions<P extends Parts = Parts> extends LimiterOptions<P> {
  /** What each tier allows, by its name. */
  readonly tiers: Readonly<Record<string, PolicyOptions>>;
  /** Returns the tier of a request; `undefined` and unknown names mean the default tier. */
  readonly tierResolver: (ctx: Context<P>) => TierName | Promise<TierName>;
  /** Default: the first of `tiers`. */
  readonly defaultTier?: string;
}

type TierName = string | undefined;

const TIER_CHECKS = {
  tiers: required(
    check(
      'at least one tier by name',
      (value) => anObject.accepts(value) && Object.keys(Object(value)).length > 0,
    ),
  ),
  tierResolver: required(aFunction),
  defaultTier: aString,
};

/**
 * Limits requests per key by the policy of their tier. A key that changes tiers starts a new count.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function tieredRateLimit<P extends Parts = Parts>(
  options: TieredRateLimitOptions<P>,
): RateLimiter<P>;
export function tieredRateLimit(options: TieredRateLimitOptions): RateLimiter {
  const owner = 'tieredRateLimit()';
  const names = Object.keys(options?.tiers ?? {});
  const {
    tiers,
    tierResolver,
    defaultTier = names[0],
    store = memoryStore(),
  } = readOptions<TieredRateLimitOptions>(owner, options, { ...TIER_CHECKS, ...LIMITER_CHECKS });
  const policies = names.map((name) => readTier(name, tiers[name], owner));
  const stored = { ...options, store };
  // A map has no inherited entries such as `constructor`.
  const limiterOf = new Map(
    policies.map((policy, index) => [names[index], createLimiter(policy, stored)]),
  );
  const fallback = limiterOf.get(defaultTier);
  if (!fallback) {
    const { expected } = oneOf(names);
    throw badOption(owner, { name: 'defaultTier', value: defaultTier, expected });
  }

  const limit: Middleware = (ctx, next) => {
    const run = (tier: TierName) => (limiterOf.get(tier) ?? fallback)(ctx, next);
    const tier = tierResolver(ctx);
    return tier instanceof Promise ? tier.then(run) : run(tier);
  };
  return describe(limit, stored, policies);
}

function readTier(name: string, options: PolicyOptions | undefined, owner: string): Policy {
  const tierOwner = `tier "${name}" of ${owner}`;
  const named = anObject.accepts(options) ? { name, ...options } : options;
  return createPolicy(tierOwner, readOptions(tierOwner, named as PolicyOptions, POLICY_CHECKS));
}

/** Adds the state of the store, and for the OpenAPI document the limits: one of `policies` applies. */
function describe(
  limit: Middleware,
  { headers = 'draft-6', store, countOnly }: StoredLimiterOptions,
  policies: readonly Policy[],
): RateLimiter {
  const limits = policies.map(({ name, burst, windowMs }) => ({
    name,
    limit: burst,
    windowSeconds: wholeSeconds(windowMs),
  }));
  const limiter = Object.assign(limit, { isStoreAvailable: () => isAvailable(store) });
  return annotate(limiter, {
    rateLimit: [{ headers, policies: limits, ...(countOnly && { countOnly }) }],
  });
}

markFactories({ rateLimit, tieredRateLimit });
