/** How hits are counted. */
export type Algorithm = 'sliding-window' | 'fixed-window' | 'token-bucket';

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
  /** Milliseconds until the whole quota is available; of a refused hit, until it would be allowed. */
  readonly resetMs: number;
}

/** The counts of one policy, by key. */
export interface Counter {
  /**
   * Counts a request that costs `cost`, unless that is more than is left: a refused request is not
   * counted. The request waits for a promise, so it must settle soon.
   */
  hit(key: string, cost: number): Hit | Promise<Hit>;
  /**
   * The refusal of such a hit, if the store would refuse it and knows that without waiting. Counts
   * nothing. Limiters with `countOnly` use it to refuse a request before it is handled.
   */
  findRefusal?(key: string, cost: number): Hit | undefined;
}

/** Counts hits per policy and key. Counters of equal policies share their counts. */
export interface RateLimitStore {
  counter(policy: Policy): Counter;
}
