export { clientKey } from './client-key.ts';
export type { OnStoreError } from './failover.ts';
export type { HeaderDialect, RateLimitState } from './headers.ts';
export type { LimiterOptions } from './limiter.ts';
export {
  type MemoryCounter,
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './memory-store.ts';
export type { PolicyOptions } from './policy.ts';
export {
  type RateLimiter,
  type RateLimitOptions,
  rateLimit,
  type TieredRateLimitOptions,
  tieredRateLimit,
} from './rate-limit.ts';
export type { Algorithm, Counter, Hit, Policy, RateLimitStore } from './store.ts';
