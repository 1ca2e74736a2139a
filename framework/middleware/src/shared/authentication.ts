import { annotate, type Context, type Guard, type Middleware, type RouteMetadata } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { memoryStore, rateLimit } from '@fw/rate-limit';

/**
 * Returns the user of a request.
 *
 * @throws {UnauthorizedError} if the credentials are missing or wrong
 */
type Authenticate<User> = (ctx: Context) => User | Promise<User>;

interface AuthenticationOptions {
  /** Counts requests that get 401; over its limit, `authenticate` does not run. */
  readonly failureLimiter: Middleware | undefined;
  readonly metadata: RouteMetadata;
}

/** Creates a guard that sets `ctx.state.user`, and limits how often a client may fail. */
export function createAuthentication<User extends { readonly id: string }>(
  authenticate: Authenticate<User>,
  { failureLimiter = limitFailures(), metadata }: AuthenticationOptions,
): Guard<{ readonly user: User }> {
  const guard: Guard<{ readonly user: User }> = async (ctx, next) => {
    let user: User | undefined;
    await failureLimiter(ctx, async () => {
      user = await authenticate(ctx);
    });
    if (user === undefined) return; // the limiter has sent the response
    Object.assign(ctx.state, { user });
    await next();
  };
  const { rateLimit } = metadataOf(failureLimiter) ?? {};
  return annotate(guard, { ...metadata, ...(rateLimit !== undefined && { rateLimit }) });
}

/** Bounds the memory to about 2 MB. */
const MAX_ADDRESSES = 10_000;

/** 30 failures per minute and client address. A request without credentials does not count. */
function limitFailures(): Middleware {
  return rateLimit({
    max: 30,
    window: '1m',
    name: 'failed-authentication',
    countOnly: [401],
    skip: (ctx) => ctx.get('authorization') === undefined,
    store: memoryStore({ maxKeys: MAX_ADDRESSES }),
  });
}
