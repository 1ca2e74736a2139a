import type { LimiterUnderTest } from '../contestant.ts';
import { createMemory } from '../fw-store.ts';

export function create(maxKeys: number): LimiterUnderTest {
  return createMemory('sliding-window', maxKeys);
}
