import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Context, type Guard, type Middleware, markFactories } from '@fw/core';
import { aFunction, anObject, check, readOptions, required } from '@fw/core/options';
import { UnauthorizedError } from '@fw/errors';

import { createAuthentication } from './shared/authentication.ts';

export interface BasicAuthOptions {
  /** Passwords of at least 8 characters, by user name. */
  readonly users: Readonly<Record<string, string>>;
  /** The name that the browser shows. Default `Restricted`. */
  readonly realm?: string;
  /**
   * Counts requests that get 401, and rejects those over its limit before their password is compared.
   * Default: a `rateLimit()` of 30 per minute and client address, in memory.
   */
  readonly failureLimiter?: Middleware;
}

const OWNER = 'basicAuth()';

const CHECKS = {
  users: required(check('an object', () => true)), // `readUsers` checks it: errors contain no password
  realm: check('1 to 128 characters of ASCII without quotes and backslashes', (value) =>
    /^[ !\x23-\x5b\x5d-\x7e]{1,128}$/.test(String(value)),
  ),
  failureLimiter: aFunction,
};

/**
 * Requires a name and a password (RFC 7617), for internal pages over HTTPS. Sets `ctx.state.user` with the
 * name as `id`; other requests get 401, on which browsers ask for both. The time of the comparison does
 * not depend on how much of the name or password is right.
 *
 * ```ts
 * router.get('/admin', basicAuth({ users: { ada: process.env.ADA_PASSWORD ?? '' } }), showAdmin);
 * ```
 *
 * @throws {TypeError} if an option is invalid, a name is empty or contains a colon, or a password has
 *   less than 8 characters; the message contains no password
 */
export function basicAuth(
  options: BasicAuthOptions,
): Guard<{ readonly user: { readonly id: string } }> {
  const { users, realm = 'Restricted', failureLimiter } = readOptions(OWNER, options, CHECKS);
  const key = randomBytes(32);
  const digest = (credentials: string) =>
    createHmac('sha256', key).update(credentials.normalize('NFC')).digest();
  const known = readUsers(users).map(([id, password]) => ({
    user: { id },
    expected: digest(`${id}:${password}`),
  }));
  const headers = { 'WWW-Authenticate': `Basic realm="${realm}", charset="UTF-8"` };

  const authenticate = (ctx: Context) => {
    const header = ctx.get('authorization');
    const actual = digest(readCredentials(header));
    // Compares with every user: the time must not depend on who it is.
    const [found] = known.filter(({ expected }) => timingSafeEqual(expected, actual));
    if (found) return found.user;
    const detail = header === undefined ? 'a password is required' : 'wrong name or password';
    throw new UnauthorizedError(detail, { headers });
  };
  return createAuthentication(authenticate, {
    failureLimiter,
    metadata: {
      security: [{ basic: [] }],
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
    },
  });
}

markFactories({ basicAuth });

const MIN_PASSWORD_LENGTH = 8;

function readUsers(users: unknown): [id: string, password: string][] {
  const entries = anObject.accepts(users) ? Object.entries(Object(users)) : [];
  if (entries.length === 0) {
    throw new TypeError(`Cannot read option users of ${OWNER}: expected passwords by user name`);
  }
  return entries.map(([id, password]) => {
    if (!/^[^:\p{Cc}]+$/u.test(id)) {
      throw new TypeError(
        `Cannot read user "${id}" of ${OWNER}: expected a name without ":" and control characters`,
      );
    }
    if (typeof password !== 'string' || password.length < MIN_PASSWORD_LENGTH) {
      throw new TypeError(
        `Cannot read the password of "${id}" of ${OWNER}: expected at least ${MIN_PASSWORD_LENGTH} characters`,
      );
    }
    return [id, password];
  });
}

/** The `name:password` of an `Authorization` header; empty if it has another form. */
function readCredentials(header = ''): string {
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  return Buffer.from(encoded, 'base64').toString();
}
