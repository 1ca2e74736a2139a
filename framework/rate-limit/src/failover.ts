import type { Logger } from '@fw/core';
import { ServiceUnavailableError } from '@fw/errors';

import { type MemoryCounter, memoryStore } from './memory-store.ts';
import type { Hit, Policy, RateLimitStore } from './store.ts';

/** The values of the option `onStoreError`. */
export const ON_STORE_ERROR = ['local', 'open', 'closed'] as const;

/** What happens to requests while the store fails: a limit in each process, no limit, or 503. */
export type OnStoreError = (typeof ON_STORE_ERROR)[number];

export interface FailoverOptions {
  readonly onStoreError: OnStoreError;
  /** Milliseconds that never step back. Default: since the process started. */
  readonly clock?: () => number;
}

/** Milliseconds between two tries of a store that failed. */
const RETRY_MS = 250;

/** `log` is read only after a failure: reading it creates the logger of the request. */
interface LoggedRequest {
  readonly log: Logger;
}

/** Counts for one policy, in its store or in a substitute. */
export interface Counts {
  /** Counts a request; `undefined` if nothing could count it and it is allowed. */
  hit(
    key: string,
    cost: number,
    request: LoggedRequest,
  ): Hit | undefined | Promise<Hit | undefined>;
  /** Returns the rejected hit of such a request, if known without waiting. Does not count. */
  findRefusal(key: string, cost: number): Hit | undefined;
}

/**
 * Counts for `policy` in `store`, or as configured by `onStoreError` while the store fails. No request
 * waits for a failed store: from time to time one is counted there in the background, to detect when
 * the store has recovered.
 */
export function createCounts(
  store: RateLimitStore,
  policy: Policy,
  { onStoreError, clock = () => performance.now() }: FailoverOptions,
): Counts {
  const counter = store.counter(policy);
  const breaker = breakerOf(store);
  const substitute = createSubstitute(policy, onStoreError);

  return {
    hit(key, cost, request) {
      if (breaker.isOpen) {
        if (breaker.isDue(clock())) attempt(breaker, request.log, () => counter.hit(key, cost));
        return substitute.hit(key, cost, request);
      }
      const fail = (error: unknown) => {
        breaker.open(error, { nowMs: clock(), log: request.log });
        return substitute.hit(key, cost, request);
      };
      try {
        const hit = counter.hit(key, cost);
        return hit instanceof Promise ? hit.catch(fail) : hit;
      } catch (error) {
        return fail(error);
      }
    },
    findRefusal(key, cost) {
      return breaker.isOpen ? substitute.findRefusal(key, cost) : counter.findRefusal?.(key, cost);
    },
  };
}

/** Whether requests are counted in `store`; otherwise `onStoreError` applies to them. */
export function isAvailable(store: RateLimitStore): boolean {
  return !breakerOf(store).isOpen;
}

/** Counts a request in a store that has failed, to detect its recovery; the request does not wait for it. */
async function attempt(
  breaker: Breaker,
  log: Logger,
  count: () => Hit | Promise<Hit>,
): Promise<void> {
  try {
    await count();
    breaker.close(log);
  } catch {
    // The store is still unavailable; `open` has logged that.
  }
}

/** Counts while the store fails. */
function createSubstitute(policy: Policy, onStoreError: OnStoreError): Counts {
  if (onStoreError === 'open') return { hit: () => undefined, findRefusal: () => undefined };
  if (onStoreError === 'closed') {
    const close = () => {
      throw new ServiceUnavailableError('The rate limit store is unavailable', {
        headers: { 'Retry-After': '1' },
      });
    };
    return { hit: close, findRefusal: close };
  }
  let local: MemoryCounter | undefined;
  return {
    hit(key, cost) {
      local ??= memoryStore().counter(policy);
      return local.hit(key, cost);
    },
    findRefusal: (key, cost) => local?.findRefusal(key, cost),
  };
}

/** One for each store: limiters that share a store share its breaker. */
const breakers = new WeakMap<RateLimitStore, Breaker>();

function breakerOf(store: RateLimitStore): Breaker {
  const known = breakers.get(store);
  if (known) return known;
  const breaker = new Breaker();
  breakers.set(store, breaker);
  return breaker;
}

/** Open while the store fails. Logs each change once. */
class Breaker {
  isOpen = false;
  #nextTryMs = 0;

  /** Whether to try the store again; true once per interval. */
  isDue(nowMs: number): boolean {
    if (nowMs < this.#nextTryMs) return false;
    this.#nextTryMs = nowMs + RETRY_MS;
    return true;
  }

  open(error: unknown, { nowMs, log }: { nowMs: number; log: Logger }): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.#nextTryMs = nowMs + RETRY_MS;
    log.error('The rate limit store fails: limits are not exact until it recovers', error);
  }

  close(log: Logger): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    log.info('The rate limit store has recovered: limits are exact again');
  }
}
