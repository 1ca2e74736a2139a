import { type Middleware, UnauthorizedError } from 'fw';

/** Somebody who has shown who they are. */
export interface AuthenticatedUser {
  readonly id: string;
}

/** The user whose token this is, or `undefined`. */
export type Verify = (token: string) => Promise<AuthenticatedUser | undefined>;

/**
 * Lets a request with a valid bearer token pass, as `ctx.state.user`; answers 401 to any other, and
 * how to do better (RFC 6750 §3).
 */
export function requireAuth(verify: Verify): Middleware {
  return async (ctx, next) => {
    const header = ctx.get('authorization');
    if (header === undefined) throw unauthorized('a bearer token is required', 'Bearer');
    const token = readBearer(header);
    const user = token && (await verify(token));
    if (!user) throw unauthorized('the bearer token is not valid', 'Bearer error="invalid_token"');
    ctx.state.user = { id: user.id };
    await next();
  };
}

/** The token of an `Authorization` header; `undefined` if it is of another form (RFC 6750 §2.1). */
function readBearer(header: string): string | undefined {
  return /^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
}

function unauthorized(message: string, challenge: string): UnauthorizedError {
  return new UnauthorizedError(message, { headers: { 'WWW-Authenticate': challenge } });
}
