import { annotate, type Guard, type Middleware, UnauthorizedError } from 'fw';

/** The plan of a user, which determines the rate limit. */
export type Tier = 'free' | 'pro';

/** The user of a verified token. */
export type AuthenticatedUser = {
  readonly id: string;
  readonly tier: Tier;
};

/**
 * Verifies a bearer token and returns its user.
 *
 * @throws {UnauthorizedError} if the token is not valid
 */
export type Verify = (token: string) => Promise<AuthenticatedUser>;

/** What protects the routes of a version, in the order in which it runs. */
export interface Protection {
  /** Runs before authentication and counts invalid tokens. */
  readonly failureLimiter: Middleware;
  readonly verify: Verify;
  /** Runs after authentication, before other services are called. */
  readonly limiter: Middleware;
}

/**
 * Requires a valid bearer token and sets `ctx.state.user`. Other requests get 401 with a
 * `WWW-Authenticate` challenge (RFC 6750 §3).
 */
export function requireAuth(verify: Verify): Guard<{ readonly user: AuthenticatedUser }> {
  const guard: Guard<{ readonly user: AuthenticatedUser }> = async (ctx, next) => {
    const header = ctx.get('authorization');
    if (header === undefined) throw unauthorized('a bearer token is required', 'Bearer');
    const token = readBearer(header);
    if (token === undefined) throw invalidToken();
    const { id, tier } = await verify(token);
    ctx.state.user = { id, tier };
    await next();
  };
  return annotate(guard, {
    security: [{ bearer: [] }],
    responses: { 503: { headers: { 'Retry-After': 'Seconds to wait before the next request' } } },
  });
}

/** The 401 error for an invalid token. The client gets `detail`; `cause` is only logged. */
export function invalidToken(
  detail = 'the bearer token is not valid',
  options?: ErrorOptions,
): UnauthorizedError {
  const challenge = `Bearer error="invalid_token", error_description="${detail}"`;
  return unauthorized(detail, challenge, options);
}

function unauthorized(message: string, challenge: string, options?: ErrorOptions) {
  return new UnauthorizedError(message, {
    ...options,
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** The token of an `Authorization` header; `undefined` if it has another form (RFC 6750 §2.1). */
function readBearer(header: string): string | undefined {
  return /^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
}
