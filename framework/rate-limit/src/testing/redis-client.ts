import { createClient } from 'redis';

import { type RedisClient, redisClientOptions } from '../redis.ts';

/** A client for one test. */
export interface TestClient extends RedisClient {
  destroy(): void;
}

/** Connects to the server at `url`, as a service would. */
export async function connect(url: string): Promise<TestClient> {
  const client = createClient({ url, ...redisClientOptions });
  client.on('error', () => {});
  await client.connect();
  return client;
}
