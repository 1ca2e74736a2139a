/** How hits are counted. */
export type Algorithm = 'sliding-window' | 'fixed-window' | 'token-bucket';

/** What one limiter allows, in full. */
export interface Policy {
  /** Tells the counts of one policy from those of others in the same store. */
  readonly name: string;
  readonly algorithm: Algorithm;
  /** How much passes per window. */
  readonly max: number;
  readonly windowMs: number;
  /** How much passes at once: `max`, unless a token bucket says otherwise. */
  readonly burst: number;
}

/** What counting one request came to. */
export interface Hit {
  readonly allowed: boolean;
  /** How much more passes at once. */
  readonly remaining: number;
  /** Milliseconds until all of the quota is back; of a refused hit, until it would pass. */
  readonly resetMs: number;
}

/** The counts of one policy, by key. */
export interface Counter {
  /**
   * Counts a request that costs `cost`, unless that is more than is left: what is refused is not
   * counted. A promise must settle, and soon: a request waits for it.
   */
  hit(key: string, cost: number): Hit | Promise<Hit>;
  /**
   * The refusal of such a hit, if the store knows without waiting that it would refuse it; counts
   * nothing. It saves work only: a limiter that counts failures asks before the request is handled.
   */
  findRefusal?(key: string, cost: number): Hit | undefined;
}

/** Where counts are kept. Counters of equal policies share theirs. */
export interface RateLimitStore {
  counter(policy: Policy): Counter;
}
