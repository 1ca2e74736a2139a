/** The values of the option `algorithm`. */
export const ALGORITHMS = ['sliding-window', 'fixed-window', 'token-bucket'] as const;

/** How hits are counted. */
export type Algorithm = (typeof ALGORITHMS)[number];

/** What one limiter allows. */
export interface Policy {
  /** Separates the counts of this policy from those of others in the same store. */
  readonly name: string;
  readonly algorithm: Algorithm;
  /** The limit per window. */
  readonly max: number;
  readonly windowMs: number;
  /** The limit at once: `max`, unless a token bucket sets another. */
  readonly burst: number;
}

/** The result of counting one request. */
export interface Hit {
  readonly allowed: boolean;
  /** How much more is allowed at once. */
  readonly remaining: number;
  /** Milliseconds until the whole quota is available; for a rejected hit, until it would be allowed. */
  readonly resetMs: number;
}

/** The counts of one policy, by key. */
export interface Counter {
  /**
   * Counts a request that costs `cost`, unless `cost` exceeds the remaining limit: a rejected request
   * is not counted. The request waits for a promise, so it must settle soon.
   */
  hit(key: string, cost: number): Hit | Promise<Hit>;
  /**
   * Returns the rejected hit if the store would reject it and knows that without waiting. Does not
   * count. Limiters with `countOnly` use it to reject a request before it is handled.
   */
  findRefusal?(key: string, cost: number): Hit | undefined;
}

/** Counts hits per policy and key. Counters of equal policies share their counts. */
export interface RateLimitStore {
  /** Returns the counts of `policy`. */
  counter(policy: Policy): Counter;
}
