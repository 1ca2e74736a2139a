import { RateLimiterMemory } from 'rate-limiter-flexible';

import { type LimiterUnderTest, MAX, WINDOW_MS } from '../contestant.ts';

export function create(): LimiterUnderTest {
  const limiter = new RateLimiterMemory({ points: MAX, duration: WINDOW_MS / 1000 });
  return { hit: (key) => limiter.consume(key) };
}
