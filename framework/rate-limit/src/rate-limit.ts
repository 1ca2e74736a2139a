import { annotate, type Context, type Middleware, markFactories } from '@fw/core';
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

import { wholeSeconds } from './headers.ts';
import { createLimiters, LIMITER_CHECKS, type LimiterOptions } from './limiter.ts';
import { createPolicy, POLICY_CHECKS, type PolicyOptions } from './options.ts';
import type { Policy } from './store.ts';

export interface RateLimitOptions extends PolicyOptions, LimiterOptions {}

/**
 * Limits requests per key: a request over the limit gets a 429 response.
 *
 * ```ts
 * app.use(rateLimit({ max: 100, window: '1m' }));
 * ```
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  readOptions('rateLimit()', options, { ...POLICY_CHECKS, ...LIMITER_CHECKS });
  const policy = createPolicy('rateLimit()', options);
  const [limit] = createLimiters([policy], options);
  return describe(limit as Middleware, options, [policy]);
}

export interface TieredRateLimitOptions extends LimiterOptions {
  /** What each tier allows, by its name. */
  readonly tiers: Readonly<Record<string, PolicyOptions>>;
  /** Returns the tier of a request; `undefined` and unknown names mean the default tier. */
  readonly tierResolver: (ctx: Context) => TierName | Promise<TierName>;
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
export function tieredRateLimit(options: TieredRateLimitOptions): Middleware {
  const owner = 'tieredRateLimit()';
  const names = Object.keys(options?.tiers ?? {});
  const {
    tiers,
    tierResolver,
    defaultTier = names[0],
  } = readOptions<TieredRateLimitOptions>(owner, options, { ...TIER_CHECKS, ...LIMITER_CHECKS });
  const policies = names.map((name) => readTier(name, tiers[name], owner));
  const limiters = createLimiters(policies, options);
  // A map has no inherited entries such as `constructor`.
  const limiterOf = new Map(names.map((name, index) => [name, limiters[index] as Middleware]));
  const fallback = limiterOf.get(defaultTier ?? '');
  if (!fallback) {
    const { expected } = oneOf(names);
    throw badOption(owner, { name: 'defaultTier', value: defaultTier, expected });
  }

  const limit: Middleware = (ctx, next) => {
    const run = (tier: TierName) => (limiterOf.get(tier ?? '') ?? fallback)(ctx, next);
    const tier = tierResolver(ctx);
    return tier instanceof Promise ? tier.then(run) : run(tier);
  };
  return describe(limit, options, policies);
}

function readTier(name: string, options: PolicyOptions | undefined, owner: string): Policy {
  const tierOwner = `tier "${name}" of ${owner}`;
  const named = anObject.accepts(options) ? { name, ...options } : options;
  return createPolicy(tierOwner, readOptions(tierOwner, named as PolicyOptions, POLICY_CHECKS));
}

/** Adds the limits to the metadata of `limit` for the OpenAPI document: one of `policies` applies. */
function describe(
  limit: Middleware,
  { headers = 'draft-6' }: LimiterOptions,
  policies: readonly Policy[],
): Middleware {
  const limits = policies.map(({ name, burst, windowMs }) => ({
    name,
    limit: burst,
    windowSeconds: wholeSeconds(windowMs),
  }));
  return annotate(limit, { rateLimit: [{ headers, policies: limits }] });
}

markFactories({ rateLimit, tieredRateLimit });
