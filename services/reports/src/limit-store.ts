import { memoryStore, type RateLimitStore } from '@fw/rate-limit';

/** Where limits are counted, and how to let go of it. */
export interface LimitStore {
  readonly store: RateLimitStore;
  close(): Promise<void>;
}

/**
 * Counts in the Redis or Valkey server at `redisUrl`, exactly over all replicas; without one, in this
 * process. The server may come and go: while it is away, each replica limits by what it knows itself.
 */
export async function openLimitStore(redisUrl: string | undefined): Promise<LimitStore> {
  if (redisUrl === undefined) return { store: memoryStore(), close: async () => {} };
  // Loaded where it is used only: the client is as large as the rest of the service.
  const { openRedisLimitStore } = await import('./limit-store/redis.ts');
  return openRedisLimitStore(redisUrl);
}
