/** A store with a limit that no key of the benchmark reaches. */
export interface LimiterUnderTest {
  hit(key: string): unknown;
}

/** The module of a contestant, `contestants/<name>.ts`. */
export interface LimiterContestant {
  create(maxKeys: number): LimiterUnderTest;
}

export const MAX = 1_000_000;
export const WINDOW_MS = 3_600_000;

/** Every in-memory store, with its package; the report prints the version. */
export const MEMORY_STORES: Readonly<Record<string, string | undefined>> = {
  'fw-sliding-window': undefined,
  'fw-fixed-window': undefined,
  'fw-token-bucket': undefined,
  'express-rate-limit': 'express-rate-limit',
  'rate-limiter-flexible': 'rate-limiter-flexible',
  'hono-rate-limiter': 'hono-rate-limiter',
  'fastify-rate-limit': '@fastify/rate-limit',
};

/** Every Redis store, with its package. */
export const REDIS_STORES: Readonly<Record<string, string | undefined>> = {
  'fw-redis': undefined,
  'rate-limiter-flexible-redis': 'rate-limiter-flexible',
};
