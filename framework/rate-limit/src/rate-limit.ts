import { annotate, type Context, type Middleware, markFactories } from '@fw/core';
import { statusOf } from '@fw/core/extension';
import {
  aFunction,
  anObject,
  anObjectWith,
  aString,
  aWholeNumber,
  badOption,
  check,
  oneOf,
  readOptions,
  required,
} from '@fw/core/options';
import { TooManyRequestsError } from '@fw/errors';

import { clientKey } from './client-key.ts';
import { createCounts, ON_STORE_ERROR, type OnStoreError } from './failover.ts';
import {
  createHeaderWriter,
  HEADER_DIALECTS,
  type HeaderDialect,
  wholeSeconds,
} from './headers.ts';
import { memoryStore } from './memory-store.ts';
import { createPolicy, MAX_COUNT, POLICY_CHECKS, type PolicyOptions } from './options.ts';
import type { Hit, Policy, RateLimitStore } from './store.ts';

/** What limiters with and without tiers have in common. */
export interface LimiterOptions {
  /** Under which key a request is counted. Default: the client's address, of IPv6 its subnet. */
  readonly keyGenerator?: (ctx: Context) => string;
  /** Where counts are kept. Default: a memory store of this limiter's own. */
  readonly store?: RateLimitStore;
  /** Requests that are neither counted nor limited. Default: none. */
  readonly skip?: (ctx: Context) => boolean;
  /**
   * Counts only requests that end with one of these statuses, such as `[401]`: whose key is over the
   * limit is refused before it is handled, and a failure over the limit gets the 429 in place of its
   * own response. No other response counts, or has the headers. Default: every request counts.
   */
  readonly countOnly?: readonly number[];
  /** How much a request counts, as a whole number from 0 on. Default 1. */
  readonly cost?: number | ((ctx: Context) => number);
  /** Answers in place of the 429; the headers are set. */
  readonly handler?: (ctx: Context, hit: Hit) => unknown;
  /** What happens while the store fails. Default `local`: a limit for each replica. */
  readonly onStoreError?: OnStoreError;
  /** Bits of an IPv6 address that make up the default key, 1 to 128. Default 64. */
  readonly ipv6Subnet?: number;
  /** Which headers the answers carry. Default `draft-6`. */
  readonly headers?: HeaderDialect;
}

export interface RateLimitOptions extends PolicyOptions, LimiterOptions {}

const aCost = aWholeNumber(0, MAX_COUNT);

const LIMITER_CHECKS = {
  keyGenerator: aFunction,
  store: anObjectWith('a store', ['counter']),
  skip: aFunction,
  countOnly: check('a list of statuses such as [401]', isStatusList),
  cost: check(
    `${aCost.expected} or a function`,
    (value) => typeof value === 'function' || aCost.accepts(value),
  ),
  handler: aFunction,
  onStoreError: oneOf(ON_STORE_ERROR),
  ipv6Subnet: aWholeNumber(1, 128),
  headers: oneOf(HEADER_DIALECTS),
};

/**
 * Limits requests per key: beyond the limit they are answered 429.
 *
 * ```ts
 * app.use(rateLimit({ max: 100, window: '1m' }));
 * ```
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  readOptions('rateLimit()', options, { ...POLICY_CHECKS, ...LIMITER_CHECKS });
  const policy = createPolicy('rateLimit()', options);
  const limit = createLimiter(options)(policy);
  return describe(limit, options, [policy]);
}

export interface TieredRateLimitOptions extends LimiterOptions {
  /** What each tier allows, by name. */
  readonly tiers: Readonly<Record<string, PolicyOptions>>;
  /** The tier of a request; one that is not known, or none, is the default tier. */
  readonly tierResolver: (ctx: Context) => TierName | Promise<TierName>;
  /** Default: the first of `tiers`. */
  readonly defaultTier?: string;
}

type TierName = string | undefined;

/**
 * Limits requests per key, each by what its tier allows. A key that changes tiers is counted anew.
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
 */
export function tieredRateLimit(options: TieredRateLimitOptions): Middleware {
  const owner = 'tieredRateLimit()';
  const { tiers, tierResolver } = readOptions<TieredRateLimitOptions>(owner, options, {
    tiers: required(
      check(
        'at least one tier by name',
        (value) => anObject.accepts(value) && Object.keys(Object(value)).length > 0,
      ),
    ),
    tierResolver: required(aFunction),
    defaultTier: aString,
    ...LIMITER_CHECKS,
  });
  const createFor = createLimiter(options);
  // A map: `constructor` and `__proto__` are tiers like any other that is not known.
  const limiters = new Map<string, Middleware>();
  const policies: Policy[] = [];
  for (const [tier, policyOptions] of Object.entries(tiers)) {
    const tierOwner = `tier "${tier}" of ${owner}`;
    readOptions(tierOwner, policyOptions, POLICY_CHECKS);
    const named = readOptions(tierOwner, { name: tier, ...policyOptions }, POLICY_CHECKS);
    const policy = createPolicy(tierOwner, named);
    policies.push(policy);
    limiters.set(tier, createFor(policy));
  }
  const names = [...limiters.keys()];
  const { defaultTier = names[0] ?? '' } = options;
  const fallback = limiters.get(defaultTier);
  if (!fallback) {
    const { expected } = oneOf(names);
    throw badOption(owner, { name: 'defaultTier', value: defaultTier, expected });
  }

  const limit: Middleware = (ctx, next) => {
    const tier = tierResolver(ctx);
    if (!(tier instanceof Promise)) return (limiters.get(tier ?? '') ?? fallback)(ctx, next);
    return tier.then((name) => (limiters.get(name ?? '') ?? fallback)(ctx, next));
  };
  return describe(limit, options, policies);
}

/** Records for the OpenAPI document what `limit` allows: one of `policies` counts each request. */
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

/** Reads what all policies of a limiter share; the result makes the middleware for one of them. */
function createLimiter(options: LimiterOptions): (policy: Policy) => Middleware {
  const {
    ipv6Subnet = 64,
    keyGenerator = (ctx) => addressKey(ctx, ipv6Subnet),
    store = memoryStore(),
    skip,
    countOnly,
    cost = 1,
    handler = refuse,
    onStoreError = 'local',
    headers = 'draft-6',
  } = options;

  return (policy) => {
    const counts = createCounts(store, policy, onStoreError);
    const writeHeaders = createHeaderWriter(policy, headers);
    const costOf = (ctx: Context) => (typeof cost === 'number' ? cost : readCost(cost(ctx)));
    const refuseWith = (ctx: Context, hit: Hit): unknown => {
      ctx.set('Retry-After', String(wholeSeconds(hit.resetMs)));
      return handler(ctx, hit);
    };
    const limit: Middleware = (ctx, next) => {
      if (skip && readSkip(skip(ctx))) return next();
      const hit = counts.hit(readKey(keyGenerator(ctx)), costOf(ctx), ctx.log);
      const answer = (counted: Hit | undefined): unknown => {
        if (counted === undefined) return next();
        writeHeaders(ctx, counted);
        return counted.allowed ? next() : refuseWith(ctx, counted);
      };
      return hit instanceof Promise ? hit.then(answer) : answer(hit);
    };
    if (countOnly === undefined) return limit;

    return async (ctx, next) => {
      if (skip && readSkip(skip(ctx))) return next();
      const key = readKey(keyGenerator(ctx));
      const cost = costOf(ctx);
      const refusal = counts.findRefusal(key, cost);
      if (refusal) {
        writeHeaders(ctx, refusal);
        return refuseWith(ctx, refusal);
      }
      const failure = await next().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (countOnly.includes(failure ? statusOf(failure.error) : ctx.status)) {
        // Counted when it is known to fail, so of any number at once no more than `max` pass.
        const hit = await counts.hit(key, cost, ctx.log);
        if (hit) writeHeaders(ctx, hit);
        if (hit && !hit.allowed) return refuseWith(ctx, hit);
      }
      if (failure) throw failure.error;
    };
  };
}

/** Registered by draft-ietf-httpapi-ratelimit-headers-10 §5.1. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

function refuse(_ctx: Context, { resetMs }: Hit): never {
  const seconds = wholeSeconds(resetMs);
  throw new TooManyRequestsError(
    `Too many requests: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`,
    { type: QUOTA_EXCEEDED, code: 'RATE_LIMITED' },
  );
}

function addressKey(ctx: Context, ipv6Subnet: number): string {
  if (ctx.ip === '') ctx.signal.throwIfAborted(); // the client has left, and its address with it
  return clientKey(ctx.ip, ipv6Subnet);
}

/** A bad key must not put those who have it into one bucket, nor a promise let everybody pass. */
function readKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new TypeError(`Cannot limit by key "${String(key)}": keyGenerator must return a text`);
}

function readSkip(skipped: unknown): boolean {
  if (typeof skipped === 'boolean') return skipped;
  throw new TypeError(`Cannot skip by "${String(skipped)}": skip must return true or false`);
}

function isStatusList(statuses: unknown): boolean {
  const isStatus = (status: unknown) => Number.isInteger(status) && STATUS.test(String(status));
  return Array.isArray(statuses) && statuses.length > 0 && statuses.every(isStatus);
}

const STATUS = /^[2-5]\d\d$/;

function readCost(cost: number): number {
  if (aCost.accepts(cost)) return cost;
  throw new RangeError(`Cannot count "${String(cost)}": cost must return a whole number from 0 on`);
}

markFactories({ rateLimit, tieredRateLimit });
