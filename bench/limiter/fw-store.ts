import { type Algorithm, memoryStore, type Policy } from '@fw/rate-limit';

import { type LimiterUnderTest, MAX, WINDOW_MS } from './contestant.ts';

export function policyOf(algorithm: Algorithm): Policy {
  return { name: 'bench', algorithm, max: MAX, windowMs: WINDOW_MS, burst: MAX };
}

/** Creates a memory store that counts with `algorithm`. */
export function createMemory(algorithm: Algorithm, maxKeys: number): LimiterUnderTest {
  const counter = memoryStore({ maxKeys }).counter(policyOf(algorithm));
  return { hit: (key) => counter.hit(key, 1) };
}
