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
  // Loaded only where it is used: the client is a third of the service.
  const [{ createClient }, { redisClientOptions, redisStore }] = await Promise.all([
    import('redis'),
    import('@fw/rate-limit/redis'),
  ]);
  const client = createClient({ url: redisUrl, ...redisClientOptions });
  const store = redisStore(client);
  client.connect().catch(() => {});
  return {
    store,
    close: async () => {
      if (client.isOpen) client.destroy();
    },
  };
}
