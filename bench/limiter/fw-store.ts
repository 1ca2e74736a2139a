import { type Algorithm, memoryStore, type Policy } from '@fw/rate-limit';

import { type LimiterUnderTest, MAX, WINDOW_MS } from './contestant.ts';

export function policyOf(algorithm: Algorithm, max = MAX): Policy {
  return { name: 'bench', algorithm, max, windowMs: WINDOW_MS, burst: max };
}

/** With a limit of 255, the highest at which the sliding window stores each count in one byte. */
export function createMemory(algorithm: Algorithm, maxKeys: number): LimiterUnderTest {
  const counter = memoryStore({ maxKeys }).counter(policyOf(algorithm, 255));
  return { hit: (key) => counter.hit(key, 1) };
}
