import { memoryStore } from '@fw/rate-limit';

import type { LimitStore } from './redis-limit-store.ts';

/**
 * Counts in the Redis or Valkey server at `redisUrl`, exactly across all replicas; without a URL, in
 * this process. While the server is unavailable, each replica counts alone.
 */
export async function openLimitStore(redisUrl: string | undefined): Promise<LimitStore> {
  if (redisUrl === undefined) return { store: memoryStore(), close: async () => {} };
  // Loaded on demand: the client is as large as the rest of the service.
  const { openRedisLimitStore } = await import('./redis-limit-store.ts');
  return openRedisLimitStore(redisUrl);
}
