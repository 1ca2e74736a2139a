import { redisClientOptions, redisStore } from '@fw/rate-limit/redis';
import { createClient } from 'redis';

/** Counts in the server at `url`; the server may start later. */
export function openRedisLimitStore(url: string) {
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
