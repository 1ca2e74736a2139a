import { MemoryStore, type Options } from 'express-rate-limit';

import { type LimiterUnderTest, WINDOW_MS } from '../contestant.ts';

export function create(): LimiterUnderTest {
  const store = new MemoryStore();
  store.init({ windowMs: WINDOW_MS } as Options); // the only option that it reads
  return { hit: (key) => store.increment(key) };
}
