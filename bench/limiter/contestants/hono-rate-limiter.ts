import { type HonoConfigType, MemoryStore } from 'hono-rate-limiter';

import { type LimiterUnderTest, WINDOW_MS } from '../contestant.ts';

export function create(): LimiterUnderTest {
  const store = new MemoryStore();
  store.init({ windowMs: WINDOW_MS } as HonoConfigType); // the only option that it reads
  return { hit: (key) => store.increment(key) };
}
