import LocalStore from '@fastify/rate-limit/store/LocalStore.js';

import { type LimiterUnderTest, MAX, WINDOW_MS } from '../contestant.ts';

/** Keeps all keys; the default of the peer is 5,000. */
export function create(maxKeys: number): LimiterUnderTest {
  const store = new LocalStore(false, false, maxKeys);
  const done = () => {};
  return { hit: (key) => store.incr(key, done, WINDOW_MS, MAX) };
}
