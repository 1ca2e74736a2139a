import type { RateLimitStore } from '@fw/rate-limit';
import { redisClientOptions, redisStore } from '@fw/rate-limit/redis';
import { createClient } from 'redis';

/** The store that counts requests. */
export interface LimitStore {
  readonly store: RateLimitStore;
  close(): Promise<void>;
}

/** Counts in the server at `url`; the server may start later. */
export function openRedisLimitStore(url: string): LimitStore {
  const client = createClient({ url, ...redisClientOptions });
  const store = redisStore(client);
  client.connect().catch(() => {});
  return {
    store,
    close: async () => {
      if (client.isOpen) client.destroy();
    },
  };
}
