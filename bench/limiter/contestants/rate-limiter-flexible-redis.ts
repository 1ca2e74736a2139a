import { RateLimiterRedis } from 'rate-limiter-flexible';

import { type LimiterUnderTest, MAX, WINDOW_MS } from '../contestant.ts';
import type { BenchClient } from '../redis-client.ts';

export function create(storeClient: BenchClient): LimiterUnderTest {
  const limiter = new RateLimiterRedis({
    storeClient,
    useRedisPackage: true,
    points: MAX,
    duration: WINDOW_MS / 1000,
  });
  return { hit: (key) => limiter.consume(key) };
}
