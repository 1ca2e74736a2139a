import { annotate, type Context, type Guard, markFactories } from '@fw/core';
import { responseHeader } from '@fw/core/extension';
import { aFunction, aListOf, aWholeNumber, check, readOptions, required } from '@fw/core/options';
import { ForbiddenError } from '@fw/errors';
import { deleteCookie, readCookie, setCookie } from '../cookies.ts';
import { readSecrets } from '../shared/cookie-secrets.ts';
import { anOrigin, isListed, isOwnOrigin } from '../shared/origin.ts';
import { addVary } from '../shared/response-headers.ts';
import { createSealer } from '../shared/sealed-text.ts';

/** The session of a browser. */
export interface Session<Data> {
  /** What `set` stored; `undefined` without a valid session. */
  readonly data: Readonly<Data> | undefined;
  /**
   * Begins the session, or replaces its data: what JSON can represent, about 2,900 bytes of it. With more,
   * the response is 500, because browsers ignore cookies of more than 4,096 bytes.
   */
  set(data: Data): void;
  /** Ends the session: the browser deletes the cookie. A copy of it stays valid until it expires. */
  end(): void;
}

export interface SessionOptions {
  /**
   * Secrets of at least 32 random bytes. The first one encrypts, all of them decrypt: to replace a secret,
   * put the new one first, and remove the old one after `maxAgeSeconds`.
   */
  readonly secrets: readonly string[];
  /** The session ends after this time without a request. Default a day. */
  readonly maxAgeSeconds?: number;
  /** The session ends this long after it began, even if it is used. Default 30 days. */
  readonly lifetimeSeconds?: number;
  /** The name of the cookie. Default `__Host-session`; the prefix is required. */
  readonly name?: string;
  /** Other origins whose pages may send requests that change something. Default none. */
  readonly trustedOrigins?: readonly string[];
  /** Returns the current time, for tests. Default: that of the system. */
  readonly now?: () => Date;
}

const OWNER = 'session()';
const DAY_SECONDS = 86_400;
/** Browsers keep no cookie longer (RFC 6265bis §5.5). */
const aTime = aWholeNumber(1, 400 * DAY_SECONDS);

const CHECKS = {
  secrets: required(check('a list', () => true)), // `readSecrets` checks it: errors contain no secret
  maxAgeSeconds: aTime,
  lifetimeSeconds: aTime,
  name: check('a name such as "__Host-session"', (value) =>
    /^__Host-[\w.-]{1,64}$/.test(String(value)),
  ),
  trustedOrigins: aListOf('a list of origins such as ["https://app.example.com"]', anOrigin),
  now: aFunction,
};

interface Started<Data> {
  readonly data: Data;
  readonly beganMs: number;
  readonly needsRenewal?: boolean;
}

/** What the cookie contains: the data, when the session began, and when the cookie was set. */
type Content<Data> = readonly [data: Data, beganMs: number, setMs: number];

/**
 * Stores the session of a browser in an encrypted and authenticated cookie, which only pages of this host
 * can set or send, and sets `ctx.state.session`. A request that changes something and comes from a page
 * of another origin gets 403 (CSRF).
 *
 * ```ts
 * const sessions = session<{ userId: string }>({ secrets: [process.env.SESSION_SECRET ?? ''] });
 * router.post('/login', sessions, (ctx) => ctx.state.session.set({ userId: 'ada' }));
 * router.get('/me', sessions, (ctx) => ctx.state.session.data ?? ctx.throw(401));
 * ```
 *
 * The cookie is set again when half of `maxAgeSeconds` has passed, or when another secret than the first
 * encrypted it. A response that sets it has `Cache-Control: no-store`; others are `private` and have
 * `Vary: Cookie`, unless a route sets its own `Cache-Control`.
 *
 * @throws {TypeError} if an option is invalid, or a secret has less than 32 bytes; the message contains no
 *   secret
 */
export function session<Data extends object>(
  options: SessionOptions,
): Guard<{ readonly session: Session<Data> }> {
  const {
    secrets,
    maxAgeSeconds = DAY_SECONDS,
    lifetimeSeconds = 30 * DAY_SECONDS,
    name = '__Host-session',
    trustedOrigins = [],
    now = () => new Date(),
  } = readOptions(OWNER, options, CHECKS);
  const sealer = createSealer(readSecrets(secrets, 'Cannot encrypt sessions'), name);

  const read = (ctx: Context, nowMs: number): Started<Data> | undefined => {
    const opened = sealer.open(readCookie(ctx, name) ?? '');
    if (!opened) return undefined;
    const [data, beganMs, setMs]: Content<Data> = JSON.parse(opened.text);
    const endsMs = Math.min(setMs + maxAgeSeconds * 1000, beganMs + lifetimeSeconds * 1000);
    if (nowMs >= endsMs) return undefined;
    const isOld = nowMs >= setMs + maxAgeSeconds * 500;
    return { data, beganMs, needsRenewal: isOld || !opened.isCurrent };
  };

  const write = (ctx: Context, current: Started<Data> | undefined, nowMs: number): void => {
    ctx.set('Cache-Control', 'no-store'); // a cache would give this session to others
    if (!current) {
      deleteCookie(ctx, name);
      return;
    }
    const content: Content<Data> = [current.data, current.beganMs, nowMs];
    const leftSeconds = Math.ceil((current.beganMs - nowMs) / 1000) + lifetimeSeconds;
    setCookie(ctx, name, sealer.seal(JSON.stringify(content)), {
      maxAgeSeconds: Math.min(maxAgeSeconds, leftSeconds),
    });
  };

  const running = new WeakMap<Context, Session<Data>>();
  const guard: Guard<{ readonly session: Session<Data> }> = async (ctx, next) => {
    const outer = running.get(ctx);
    if (outer) {
      // Only the outer one writes: of two cookies, the browser would keep the one without the changes.
      Object.assign(ctx.state, { session: outer });
      return next();
    }
    if (isCrossOriginChange(ctx, trustedOrigins)) {
      throw new ForbiddenError('a page of another origin sent the request', {
        code: 'CROSS_ORIGIN_REQUEST',
      });
    }
    // A shared cache could give the response to others (RFC 9111 §4.2.2).
    addVary(ctx, 'Cookie');
    if (responseHeader(ctx, 'Cache-Control') === undefined) ctx.set('Cache-Control', 'private');
    const nowMs = now().getTime();
    let current = read(ctx, nowMs);
    let isChanged = current?.needsRenewal === true;
    const session: Session<Data> = {
      get data() {
        return current?.data;
      },
      set(data) {
        current = { data, beganMs: current?.beganMs ?? nowMs };
        isChanged = true;
      },
      end() {
        current = undefined;
        isChanged = true;
      },
    };
    running.set(ctx, session);
    Object.assign(ctx.state, { session });
    try {
      await next();
    } finally {
      const { headersSent } = ctx.raw.res; // by a time limit: the cookie comes too late
      if (isChanged && !headersSent) write(ctx, current, nowMs);
    }
  };
  return annotate(guard, {
    security: [{ session: [] }, {}],
    securitySchemes: { session: { type: 'apiKey', in: 'cookie', name } },
    responses: { 403: { description: 'A page of another origin sent the request' } },
  });
}

markFactories({ session });

/** Methods that change nothing (RFC 9110 §9.2.1, RFC 10008). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'QUERY'];

/**
 * Whether a page of another origin, and none of the `trusted` ones, sent this request to change something
 * (CSRF). Browsers send `Sec-Fetch-Site`, older ones only `Origin`; a request with neither comes from
 * another program, which has no cookies of a user. Pages cannot set these headers (Fetch §4.6).
 */
function isCrossOriginChange(ctx: Context, trusted: readonly string[]): boolean {
  if (SAFE_METHODS.includes(ctx.method)) return false;
  const origin = ctx.get('origin');
  if (origin !== undefined && isListed(trusted, origin)) return false;
  const site = ctx.get('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !isOwnOrigin(ctx, origin);
}
