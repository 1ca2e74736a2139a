import { rateLimit } from '@fw/rate-limit';
import type { Middleware } from 'fw';

/** Lets each user have 100 answers a minute; without a user, each client address. */
export function limitPerUser(): Middleware {
  return rateLimit({
    max: 100,
    window: '1m',
    keyGenerator: ({ state, ip }) => (state.user ? `user:${state.user.id}` : `ip:${ip}`),
  });
}
