import type { Context, Middleware, Parts } from '@fw/core';
import { statusOf } from '@fw/core/extension';
import { aFunction, anObjectWith, aWholeNumber, check, oneOf } from '@fw/core/options';
import { HttpError, TooManyRequestsError } from '@fw/errors';

import { clientKey } from './client-key.ts';
import { type Counts, createCounts, ON_STORE_ERROR, type OnStoreError } from './failover.ts';
import {
  createHeaderWriter,
  HEADER_DIALECTS,
  type HeaderDialect,
  wholeSeconds,
} from './headers.ts';
import { MAX_COUNT } from './policy.ts';
import type { Hit, Policy, RateLimitStore } from './store.ts';

/** Options of limiters with and without tiers; `P` are the parts that middleware before them has set. */
export interface LimiterOptions<P extends Parts = Parts> {
  /** The key under which a request is counted. Default: the client's address, of IPv6 its subnet. */
  readonly keyGenerator?: (ctx: Context<P>) => string;
  /** Where hits are counted. Default: a memory store of this limiter. */
  readonly store?: RateLimitStore;
  /** Requests that are neither counted nor limited. Default: none. */
  readonly skip?: (ctx: Context<P>) => boolean;
  /**
   * Counts only requests that end with one of these statuses, such as `[401]`. A key over the limit is
   * rejected before its request is handled; a failure over the limit gets the 429 instead of its own
   * response. Other responses are not counted and have no headers. Default: every request counts.
   */
  readonly countOnly?: readonly number[];
  /** How much a request counts: a whole number, at least 0. Default 1. */
  readonly cost?: number | ((ctx: Context<P>) => number);
  /** Sends the response to a rejected request; its headers are set. Default: throws the 429. */
  readonly handler?: (ctx: Context<P>, hit: Hit) => unknown;
  /** What happens while the store fails. Default `local`: a limit in each process. */
  readonly onStoreError?: OnStoreError;
  /** Bits of an IPv6 address in the default key, 1 to 128. Default 64. */
  readonly ipv6Subnet?: number;
  /** The headers of the responses. Default `draft-6`. */
  readonly headers?: HeaderDialect;
}

/** Options with the store that is used. */
export interface StoredLimiterOptions extends LimiterOptions {
  readonly store: RateLimitStore;
}

const aCost = aWholeNumber(0, MAX_COUNT);

export const LIMITER_CHECKS = {
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

function isStatusList(statuses: unknown): boolean {
  const isStatus = (status: unknown) =>
    Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;
  return Array.isArray(statuses) && statuses.length > 0 && statuses.every(isStatus);
}

/** Creates a middleware that limits requests by `policy`. */
export function createLimiter(
  policy: Policy,
  {
    ipv6Subnet = 64,
    keyGenerator = (ctx) => addressKey(ctx, ipv6Subnet),
    store,
    skip,
    countOnly,
    cost = 1,
    handler = reject,
    onStoreError = 'local',
    headers = 'draft-6',
  }: StoredLimiterOptions,
): Middleware {
  const counts = createCounts(store, policy, { onStoreError });
  const writeHeaders = createHeaderWriter(policy, headers);
  const costOf = (ctx: Context) => (typeof cost === 'number' ? cost : readCost(cost(ctx)));
  /** Continues after an allowed hit, or if nothing could count the request; else rejects it. */
  const settle = (
    ctx: Context,
    hit: ReturnType<Counts['hit']>,
    proceed: () => unknown,
  ): unknown => {
    if (hit instanceof Promise) return hit.then((counted) => settle(ctx, counted, proceed));
    if (hit) writeHeaders(ctx, hit);
    if (!hit || hit.allowed) return proceed();
    ctx.set('Retry-After', String(wholeSeconds(hit.resetMs)));
    return handler(ctx, hit);
  };

  if (countOnly === undefined) {
    return (ctx, next) => {
      if (skip && readSkip(skip(ctx))) return next();
      return settle(ctx, counts.hit(readKey(keyGenerator(ctx)), costOf(ctx), ctx), next);
    };
  }

  return async (ctx, next) => {
    if (skip && readSkip(skip(ctx))) return next();
    const key = readKey(keyGenerator(ctx));
    const cost = costOf(ctx);
    const rejected = counts.findRefusal(key, cost);
    if (rejected) return settle(ctx, rejected, next);
    const failure = await next().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const proceed = () => {
      if (failure) throw failure.error;
    };
    if (!countOnly.includes(failure ? statusOf(failure.error) : ctx.status)) return proceed();
    // Counted once the failure is known, so of any number of parallel requests at most `max` pass.
    return settle(ctx, counts.hit(key, cost, ctx), proceed);
  };
}

/** Registered by draft-ietf-httpapi-ratelimit-headers-10 §5.1. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

function reject(_ctx: Context, { resetMs }: Hit): never {
  const seconds = wholeSeconds(resetMs);
  throw new TooManyRequestsError(
    `Too many requests: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`,
    { type: QUOTA_EXCEEDED, code: 'RATE_LIMITED' },
  );
}

function addressKey(ctx: Context, ipv6Subnet: number): string {
  const { destroyed, localAddress } = ctx.raw.req.socket;
  // A connection that was reset has no peer any more; a Unix socket never has addresses.
  if (ctx.ip === '' && (destroyed || localAddress !== undefined)) {
    throw new HttpError(499, 'The client has disconnected');
  }
  return clientKey(ctx.ip, ipv6Subnet);
}

/** An invalid key must not become a shared key, and a promise must not let every request pass. */
function readKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new TypeError(`Cannot limit by key "${String(key)}": keyGenerator must return a text`);
}

function readSkip(skipped: unknown): boolean {
  if (typeof skipped === 'boolean') return skipped;
  throw new TypeError(`Cannot skip by "${String(skipped)}": skip must return true or false`);
}

function readCost(cost: number): number {
  if (aCost.accepts(cost)) return cost;
  throw new RangeError(`Cannot count "${String(cost)}": cost must return a whole number from 0 on`);
}
