import { startPostgres } from '@fw/service/testing/postgres';

import {
  type RedisServer,
  startRedisServer,
} from '../../../framework/rate-limit/src/testing/redis-server.ts';

/** Stores that the replicas of a system share. */
export interface TrialStores {
  /** Their addresses, for the environment of the system. */
  readonly variables: { readonly DATABASE_URL: string; readonly REDIS_URL: string };
  readonly redis: RedisServer;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL and a Redis server. */
export async function startTrialStores(): Promise<TrialStores> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()]);
  return {
    variables: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    redis,
    stop: async () => void (await Promise.all([postgres.stop(), redis.stop()])),
  };
}
