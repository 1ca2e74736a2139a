import { type Context, type Middleware, markFactories } from '@fw/core';
import { trimBlanks } from '@fw/core/body';
import { aBoolean, aListOf, aWholeNumber, badOption, check, readOptions } from '@fw/core/options';

import { isListed, normalOrigin } from './shared/origin.ts';
import { addVary } from './shared/response-headers.ts';
import { aToken, isToken } from './shared/token.ts';

/** Decides whether pages of `origin` may read the response; only `true` allows it. */
export type OriginTest = (origin: string, ctx: Context) => boolean | Promise<boolean>;

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

const DEFAULT_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

const methodNames = aListOf(
  'a list of methods in capital letters',
  check('a method', (value) => typeof value === 'string' && /^[A-Z]+$/.test(value)),
);
const headerNames = aListOf('a list of header names', aToken);
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
  const { credentials = false, exposedHeaders = [] } = settings;
  const isOpen = allowed === '*';
  if (isOpen && credentials) {
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
      if (isAllowed && credentials) ctx.set('Access-Control-Allow-Credentials', 'true');
      if (isPreflight(ctx)) {
        for (const name of PREFLIGHT_HEADERS) addVary(ctx, name);
        ctx.send('');
        if (isAllowed) setPreflightHeaders(ctx, settings);
        return undefined;
      }
      if (isAllowed && exposedHeaders.length > 0) {
        ctx.set('Access-Control-Expose-Headers', exposedHeaders.join(', '));
      }
      return next();
    };
    if (origin === undefined) return proceed(isOpen);
    const decision = test(origin, ctx);
    return decision instanceof Promise ? decision.then(proceed) : proceed(decision);
  };
}

/** The request headers on which the response to a preflight request depends. */
const PREFLIGHT_HEADERS = [
  'Origin',
  'Access-Control-Request-Method',
  'Access-Control-Request-Headers',
];

function isPreflight(ctx: Context): boolean {
  return (
    ctx.method === 'OPTIONS' &&
    ctx.get('origin') !== undefined &&
    ctx.get('access-control-request-method') !== undefined
  );
}

/** Sets what a page of an allowed origin may do. */
function setPreflightHeaders(ctx: Context, settings: CorsOptions): void {
  const { methods = DEFAULT_METHODS, allowedHeaders = requestedHeaders(ctx) } = settings;
  const { maxAgeSeconds, privateNetwork = false } = settings;
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  if (allowedHeaders.length > 0) ctx.set('Access-Control-Allow-Headers', allowedHeaders.join(', '));
  if (maxAgeSeconds !== undefined) ctx.set('Access-Control-Max-Age', maxAgeSeconds);
  if (privateNetwork && ctx.get('access-control-request-private-network') === 'true') {
    ctx.set('Access-Control-Allow-Private-Network', 'true');
  }
}

/** The headers that the page wants to set; entries that are not header names are left out. */
function requestedHeaders(ctx: Context): readonly string[] {
  const names = (ctx.get('access-control-request-headers') ?? '').split(',');
  return names.map(trimBlanks).filter(isToken);
}

/**
 * Converts the option `origin` to a test.
 *
 * @throws {TypeError} if an entry is not an origin as browsers send it
 */
function readOrigin(option: string | readonly string[] | OriginTest): OriginTest {
  if (option === '*') return () => true;
  if (typeof option === 'function') return option;
  const origins = typeof option === 'string' ? [option] : option;
  for (const origin of origins) requireOrigin(origin);
  if (origins.length === 0) throw badOrigin(option, 'at least one origin');
  return (origin) => isListed(origins, origin);
}

function requireOrigin(text: unknown): void {
  const origin = normalOrigin(String(text));
  if (origin === text) return;
  throw badOrigin(
    text,
    text === '*'
      ? '"*" alone, not in a list'
      : `an origin such as "https://app.example.com"${origin ? `; did you mean "${origin}"?` : ''}`,
  );
}

function badOrigin(value: unknown, expected: string): TypeError {
  return badOption('cors()', { name: 'origin', value, expected });
}

markFactories({ cors });
