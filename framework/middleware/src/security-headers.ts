import { randomBytes } from 'node:crypto';

import { type Context, type Middleware, markFactories } from '@fw/core';
import {
  aBoolean,
  anObject,
  aWholeNumber,
  badOption,
  type Check,
  check,
  oneOf,
  readOptions,
} from '@fw/core/options';

const DIRECTIVES = [
  'base-uri',
  'child-src',
  'connect-src',
  'default-src',
  'font-src',
  'form-action',
  'frame-ancestors',
  'frame-src',
  'img-src',
  'manifest-src',
  'media-src',
  'object-src',
  'report-to',
  'report-uri',
  'require-trusted-types-for',
  'sandbox',
  'script-src',
  'script-src-attr',
  'script-src-elem',
  'style-src',
  'style-src-attr',
  'style-src-elem',
  'trusted-types',
  'upgrade-insecure-requests',
  'worker-src',
] as const;

const REFERRER_POLICIES = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'origin',
  'origin-when-cross-origin',
  'same-origin',
  'strict-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
] as const;
const OPENER_POLICIES = [
  'same-origin',
  'same-origin-allow-popups',
  'noopener-allow-popups',
  'unsafe-none',
] as const;
const RESOURCE_POLICIES = ['same-origin', 'same-site', 'cross-origin'] as const;
const EMBEDDER_POLICIES = ['require-corp', 'credentialless', 'unsafe-none'] as const;
const FRAME_OPTIONS = ['DENY', 'SAMEORIGIN'] as const;

/** The values of each directive of `Content-Security-Policy`; `false` removes a default directive. */
export type ContentSecurityPolicy = {
  readonly [Directive in (typeof DIRECTIVES)[number]]?: readonly string[] | false;
};

/** The place of the nonce in a directive, such as `'script-src': [NONCE]`; `nonceOf(ctx)` returns it. */
export const NONCE = "'nonce'";

/** The directives of `Strict-Transport-Security` (RFC 6797 §6.1). */
export interface StrictTransportSecurity {
  /** How long browsers use only HTTPS for this host. Default one year. */
  readonly maxAgeSeconds?: number;
  /** Whether that includes all subdomains. Default true. */
  readonly includeSubDomains?: boolean;
  /** Whether browsers may ship with this host in their list. Default false. */
  readonly preload?: boolean;
}

/** The origins that may use a browser feature: `'self'`, `'*'` or origins. An empty list denies it to all. */
export type PermissionsPolicy = Readonly<Record<string, readonly string[]>>;

/** Each option is the value of one header; `false` omits the header. */
export interface SecurityHeadersOptions {
  /** Directives that replace the default ones of `Content-Security-Policy`. */
  readonly contentSecurityPolicy?: ContentSecurityPolicy | false;
  /** `Strict-Transport-Security`, sent only to clients that use HTTPS. */
  readonly strictTransportSecurity?: StrictTransportSecurity | false;
  /** `X-Content-Type-Options: nosniff`. Default true. */
  readonly noSniff?: boolean;
  /** `X-Frame-Options`, for browsers without `frame-ancestors`. Default DENY. */
  readonly frameOptions?: (typeof FRAME_OPTIONS)[number] | false;
  /** `Referrer-Policy`. Default no-referrer. */
  readonly referrerPolicy?: (typeof REFERRER_POLICIES)[number] | false;
  /** `Cross-Origin-Opener-Policy`. Default same-origin. */
  readonly crossOriginOpenerPolicy?: (typeof OPENER_POLICIES)[number] | false;
  /** `Cross-Origin-Resource-Policy`. Default same-origin. */
  readonly crossOriginResourcePolicy?: (typeof RESOURCE_POLICIES)[number] | false;
  /** `Cross-Origin-Embedder-Policy`. Default false. */
  readonly crossOriginEmbedderPolicy?: (typeof EMBEDDER_POLICIES)[number] | false;
  /** `Origin-Agent-Cluster: ?1`. Default true. */
  readonly originAgentCluster?: boolean;
  /** The origins that may use each browser feature, such as `{ camera: [] }`. Default false. */
  readonly permissionsPolicy?: PermissionsPolicy | false;
}

/**
 * Sets headers that restrict what a browser does with a response. A header that a handler sets replaces
 * the one of this middleware. Register it before `errorHandler()`.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 */
export function securityHeaders(options: SecurityHeadersOptions = {}): Middleware {
  const settings = readOptions('securityHeaders()', options, {
    contentSecurityPolicy: orFalse(anObject),
    strictTransportSecurity: orFalse(anObject),
    noSniff: aBoolean,
    frameOptions: orFalse(oneOf(FRAME_OPTIONS)),
    referrerPolicy: orFalse(oneOf(REFERRER_POLICIES)),
    crossOriginOpenerPolicy: orFalse(oneOf(OPENER_POLICIES)),
    crossOriginResourcePolicy: orFalse(oneOf(RESOURCE_POLICIES)),
    crossOriginEmbedderPolicy: orFalse(oneOf(EMBEDDER_POLICIES)),
    originAgentCluster: aBoolean,
    permissionsPolicy: orFalse(anObject),
  });
  const { contentSecurityPolicy = {}, strictTransportSecurity = {} } = settings;
  const policy = contentSecurityPolicy && readPolicy(contentSecurityPolicy);
  const transport = strictTransportSecurity && readTransport(strictTransportSecurity);
  const headers = fixedHeaders(settings);
  return (ctx, next) => {
    for (const [name, value] of headers) ctx.set(name, value);
    if (policy) ctx.set('Content-Security-Policy', withNonce(policy, ctx));
    // Browsers ignore it without TLS (RFC 6797 §7.2).
    if (transport && ctx.protocol === 'https') ctx.set('Strict-Transport-Security', transport);
    return next();
  };
}

/** The headers that are equal for all requests. */
function fixedHeaders(settings: SecurityHeadersOptions): readonly (readonly [string, string])[] {
  const { noSniff = true, originAgentCluster = true, permissionsPolicy = false } = settings;
  const values = {
    'X-Content-Type-Options': noSniff && 'nosniff',
    'X-Frame-Options': settings.frameOptions ?? 'DENY',
    'Referrer-Policy': settings.referrerPolicy ?? 'no-referrer',
    'Cross-Origin-Opener-Policy': settings.crossOriginOpenerPolicy ?? 'same-origin',
    'Cross-Origin-Resource-Policy': settings.crossOriginResourcePolicy ?? 'same-origin',
    'Cross-Origin-Embedder-Policy': settings.crossOriginEmbedderPolicy ?? false,
    'Origin-Agent-Cluster': originAgentCluster && '?1',
    'Permissions-Policy': permissionsPolicy && readPermissions(permissionsPolicy),
  };
  return Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : []));
}

function orFalse(option: Check): Check {
  return check(`false or ${option.expected}`, (value) => value === false || option.accepts(value));
}

const YEAR_SECONDS = 365 * 24 * 60 * 60;

function readTransport(given: StrictTransportSecurity): string {
  const {
    maxAgeSeconds = YEAR_SECONDS,
    includeSubDomains = true,
    preload = false,
  } = readOptions('strictTransportSecurity', given, {
    maxAgeSeconds: aWholeNumber(0, 10 * YEAR_SECONDS),
    includeSubDomains: aBoolean,
    preload: aBoolean,
  });
  const flags = `${includeSubDomains ? '; includeSubDomains' : ''}${preload ? '; preload' : ''}`;
  return `max-age=${maxAgeSeconds}${flags}`;
}

const DEFAULT_POLICY: ContentSecurityPolicy = {
  'default-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'object-src': ["'none'"],
};

/** A value that the browser would read as a host name. */
const UNQUOTED =
  /^(?:none|self|strict-dynamic|report-sample|unsafe-[a-z-]+|wasm-unsafe-eval|nonce-.*|sha(?:256|384|512)-.*)$/;

const sources: Check = check(
  'false or a list of values such as "\'self\'" or "https://example.com"; keywords have single quotes',
  (value) => value === false || (Array.isArray(value) && value.every(isSource)),
);

function isSource(value: unknown): boolean {
  const isWord = typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && !/[,;]/.test(value);
  return isWord && !UNQUOTED.test(value);
}

/**
 * The text of the default policy with the directives of `given`.
 *
 * @throws {TypeError} if a directive is unknown or a value is invalid
 */
function readPolicy(given: ContentSecurityPolicy): string {
  const checks = Object.fromEntries(DIRECTIVES.map((name) => [name, sources]));
  const policy = readOptions(
    'contentSecurityPolicy',
    given,
    checks as Record<keyof typeof given, Check>,
  );
  return Object.entries({ ...DEFAULT_POLICY, ...policy })
    .filter(([, values]) => Array.isArray(values))
    .map(([name, values]) => [name, ...(values as readonly string[])].join(' '))
    .join('; ');
}

const nonces = new WeakMap<Context, string>();

/** The random nonce of this request, for the attribute `nonce` of `<script>` and `<style>`. */
export function nonceOf(ctx: Context): string {
  const nonce = nonces.get(ctx) ?? randomBytes(16).toString('base64');
  nonces.set(ctx, nonce);
  return nonce;
}

/** `policy` with the nonce of this request. */
function withNonce(policy: string, ctx: Context): string {
  return policy.includes(NONCE) ? policy.replaceAll(NONCE, `'nonce-${nonceOf(ctx)}'`) : policy;
}

/**
 * The text of `Permissions-Policy`.
 *
 * @throws {TypeError} if the name of a feature or an origin is invalid
 */
function readPermissions(policy: PermissionsPolicy): string {
  return Object.entries(policy)
    .map(([feature, origins]) => {
      if (!/^[a-z][a-z-]*$/.test(feature)) {
        throw invalidPermission(feature, 'names of features in lower case, such as "camera"');
      }
      if (!Array.isArray(origins)) {
        throw invalidPermission(origins, 'a list of origins for each feature');
      }
      return `${feature}=(${origins.map(readOrigin).join(' ')})`;
    })
    .join(', ');
}

function readOrigin(origin: unknown): string {
  if (origin === 'self' || origin === '*') return origin;
  if (typeof origin === 'string' && URL.parse(origin)?.origin === origin) return `"${origin}"`;
  throw invalidPermission(origin, '"self", "*" or an origin such as "https://example.com"');
}

function invalidPermission(value: unknown, expected: string): TypeError {
  return badOption('securityHeaders()', { name: 'permissionsPolicy', value, expected });
}

markFactories({ securityHeaders });
