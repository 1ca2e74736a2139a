import { randomBytes } from 'node:crypto';

import type { Context } from '@fw/core';
import { type Check, check, readOptions } from '@fw/core/options';

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

/** The values of each directive of `Content-Security-Policy`; `false` removes a default directive. */
export type ContentSecurityPolicy = {
  readonly [Directive in (typeof DIRECTIVES)[number]]?: readonly string[] | false;
};

/** The place of the nonce in a directive, such as `'script-src': [NONCE]`; `nonceOf(ctx)` returns it. */
export const NONCE = "'nonce'";

const DEFAULTS: ContentSecurityPolicy = {
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
export function readPolicy(given: ContentSecurityPolicy): string {
  const checks = Object.fromEntries(DIRECTIVES.map((name) => [name, sources]));
  const policy = readOptions(
    'contentSecurityPolicy',
    given,
    checks as Record<keyof typeof given, Check>,
  );
  return Object.entries({ ...DEFAULTS, ...policy })
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
export function withNonce(policy: string, ctx: Context): string {
  return policy.includes(NONCE) ? policy.replaceAll(NONCE, `'nonce-${nonceOf(ctx)}'`) : policy;
}
