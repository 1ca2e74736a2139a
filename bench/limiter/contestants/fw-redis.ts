import { redisStore } from '@fw/rate-limit/redis';

import type { LimiterUnderTest } from '../contestant.ts';
import { policyOf } from '../fw-store.ts';
import type { BenchClient } from '../redis-client.ts';

export function create(client: BenchClient): LimiterUnderTest {
  const counter = redisStore(client).counter(policyOf('sliding-window'));
  return { hit: (key) => counter.hit(key, 1) };
}
