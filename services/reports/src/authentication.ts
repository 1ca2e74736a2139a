import { bearerToken } from '@fw/middleware/bearer-token';
import type { TokenOptions } from '@fw/service';
import type { Guard, Middleware } from 'fw';

/** The plan of a user, which determines the rate limit. */
export type Tier = 'free' | 'pro';

/** What protects the routes of a version, in the order in which it runs. */
export interface Protection {
  readonly authenticate: Middleware;
  /** Runs before other services are called. */
  readonly limiter: Middleware;
}

/** Requires a valid token, and sets `ctx.state.user`. An unknown tier in the token is `free`. */
export function createAuthentication(
  tokens: TokenOptions,
  failureLimiter: Middleware,
): Guard<{ readonly user: { readonly id: string; readonly tier: Tier } }> {
  return bearerToken({
    ...tokens,
    failureLimiter,
    user: ({ sub, tier }) => ({ id: sub, tier: tier === 'pro' ? 'pro' : 'free' }),
  });
}
