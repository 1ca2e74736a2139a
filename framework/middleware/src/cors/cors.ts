import { type Context, type Middleware, markFactories, type Next } from '@fw/core';
import { trimBlanks } from '@fw/core/extension';
import {
  aBoolean,
  aListOf,
  aWholeNumber,
  badOption,
  type Check,
  check,
  readOptions,
} from '@fw/core/options';
import { addVary } from '../vary.ts';
import { type OriginTest, readOrigin } from './origin.ts';

export type { OriginTest } from './origin.ts';

export interface CorsOptions {
  /**
   * The origins whose pages may read responses: `'*'` for all, one origin, a list, or a function.
   * Default `'*'`.
   */
  readonly origin?: string | readonly string[] | OriginTest;
  /** Whether requests may contain cookies and HTTP authentication. Default false. */
  readonly credentials?: boolean;
  /** The methods that a page may use. Default GET, HEAD, PUT, PATCH, POST and DELETE. */
  readonly methods?: readonly string[];
  /** The request headers that a page may set. Default: all that it asks for. */
  readonly allowedHeaders?: readonly string[];
  /** The response headers that a page may read in addition to the safelisted ones. Default none. */
  readonly exposedHeaders?: readonly string[];
  /** How long a browser may reuse a preflight response, in seconds. Default: the browser's, 5 s. */
  readonly maxAgeSeconds?: number;
  /** Whether public pages may call this server in a private network. Default false. */
  readonly privateNetwork?: boolean;
}

const TOKEN = /^[!#$%&'*+\-.^`|~\w]+$/;
const DEFAULT_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

const methodNames = aListOf('a list of methods in capital letters', matching(/^[A-Z]+$/));
const headerNames = aListOf('a list of header names', matching(TOKEN));
const anOrigin = check(
  '"*", an origin, a list of origins or a function',
  (value) => ['string', 'function'].includes(typeof value) || Array.isArray(value),
);

/**
 * Allows pages of other origins to read responses, and responds to preflight requests with 204 (the
 * CORS protocol of the Fetch standard). Register it before `errorHandler()`, routers and limiters: then
 * their responses are readable too.
 *
 * @throws {TypeError} if an option is invalid, or if `credentials` is combined with `origin: '*'`
 */
export function cors(options: CorsOptions = {}): Middleware {
  const { origin: allowed = '*', ...settings } = readOptions('cors()', options, {
    origin: anOrigin,
    credentials: aBoolean,
    methods: methodNames,
    allowedHeaders: headerNames,
    exposedHeaders: headerNames,
    maxAgeSeconds: aWholeNumber(0, 86_400),
    privateNetwork: aBoolean,
  });
  const isOpen = allowed === '*';
  if (isOpen && settings.credentials) {
    const expected = 'false, or a list of origins in option origin';
    throw badOption('cors()', { name: 'credentials', value: true, expected });
  }
  const test = readOrigin(allowed);
  return (ctx, next) => {
    const origin = ctx.get('origin');
    if (!isOpen) addVary(ctx, 'Origin');
    const proceed = (decision: boolean) => {
      const isAllowed = decision === true; // a test in JavaScript may return any value
      if (isAllowed) ctx.set('Access-Control-Allow-Origin', isOpen ? '*' : origin!);
      return respond(ctx, next, { isAllowed, settings });
    };
    if (origin === undefined) return proceed(isOpen);
    const decision = test(origin, ctx);
    return decision instanceof Promise ? decision.then(proceed) : proceed(decision);
  };
}

interface Decision {
  readonly isAllowed: boolean;
  readonly settings: CorsOptions;
}

/** Responds to a preflight request; runs the next middleware for any other. */
function respond(ctx: Context, next: Next, { isAllowed, settings }: Decision): unknown {
  const { credentials = false, exposedHeaders = [] } = settings;
  if (isAllowed && credentials) ctx.set('Access-Control-Allow-Credentials', 'true');
  if (isPreflight(ctx)) {
    respondToPreflight(ctx, isAllowed, settings);
    return undefined;
  }
  if (isAllowed && exposedHeaders.length > 0) {
    ctx.set('Access-Control-Expose-Headers', exposedHeaders.join(', '));
  }
  return next();
}

function isPreflight(ctx: Context): boolean {
  return (
    ctx.method === 'OPTIONS' &&
    ctx.get('origin') !== undefined &&
    ctx.get('access-control-request-method') !== undefined
  );
}

function respondToPreflight(ctx: Context, isAllowed: boolean, settings: CorsOptions): void {
  for (const name of [
    'Origin',
    'Access-Control-Request-Method',
    'Access-Control-Request-Headers',
  ]) {
    addVary(ctx, name);
  }
  ctx.send('');
  if (!isAllowed) return;
  const { methods = DEFAULT_METHODS, allowedHeaders = requestedHeaders(ctx) } = settings;
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  if (allowedHeaders.length > 0) ctx.set('Access-Control-Allow-Headers', allowedHeaders.join(', '));
  const { maxAgeSeconds, privateNetwork = false } = settings;
  if (maxAgeSeconds !== undefined) ctx.set('Access-Control-Max-Age', maxAgeSeconds);
  if (privateNetwork && ctx.get('access-control-request-private-network') === 'true') {
    ctx.set('Access-Control-Allow-Private-Network', 'true');
  }
}

function matching(pattern: RegExp): Check {
  return check(String(pattern), (value) => typeof value === 'string' && pattern.test(value));
}

/** The headers that the page wants to set; entries that are not header names are left out. */
function requestedHeaders(ctx: Context): readonly string[] {
  const names = (ctx.get('access-control-request-headers') ?? '').split(',');
  return names.map(trimBlanks).filter((name) => TOKEN.test(name));
}

markFactories({ cors });
