import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

import type { Context } from '@fw/core';

import { readCookie } from './read-cookies.ts';
import { type CookieOptions, setCookie } from './set-cookie.ts';

/** Cookies that clients can read, but not change. */
export interface SignedCookies {
  /** The value of the cookie `name`; `undefined` without a cookie or with an invalid signature. */
  read(ctx: Pick<Context, 'get'>, name: string): string | undefined;
  /** Like `setCookie`. A signature of name and value (HMAC-SHA-256, 44 bytes) follows the value. */
  set(ctx: Pick<Context, 'append'>, name: string, value: string, options?: CookieOptions): void;
}

/** The output length of SHA-256: a shorter key is weaker than the function (RFC 2104 §3). */
const MIN_SECRET_BYTES = 32;

/**
 * Creates functions that set and read signed cookies. The first of `secrets` signs, all of them verify:
 * to replace a secret, put the new one first, and remove the old one when its cookies have expired.
 *
 * @throws {TypeError} if there is no secret or one has less than 32 bytes; the message contains no secret
 */
export function createSignedCookies(secrets: readonly string[]): SignedCookies {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError('Cannot sign cookies: expected a list of secrets');
  }
  const keys = secrets.map(readSecret);
  const [first] = keys as [KeyObject];
  return {
    read(ctx, name) {
      const text = readCookie(ctx, name) ?? '';
      const dot = text.lastIndexOf('.');
      const value = text.slice(0, Math.max(0, dot));
      const signature = text.slice(dot + 1);
      return keys.some((key) => isEqual(sign(key, name, value), signature)) ? value : undefined;
    },
    set(ctx, name, value, options) {
      setCookie(ctx, name, `${value}.${sign(first, name, value)}`, options);
    },
  };
}

function readSecret(secret: unknown, index: number): KeyObject {
  const bytes = Buffer.from(typeof secret === 'string' ? secret : '');
  if (bytes.length >= MIN_SECRET_BYTES) return createSecretKey(bytes);
  throw new TypeError(
    `Cannot sign cookies with secret ${index + 1}, which has ${bytes.length} bytes: expected a string of at least ${MIN_SECRET_BYTES} bytes`,
  );
}

/** The name is signed too: the value of one cookie is invalid in another. */
function sign(key: KeyObject, name: string, value: string): string {
  return createHmac('sha256', key).update(`${name}=${value}`).digest('base64url');
}

/** Takes the same time for every wrong signature. */
function isEqual(expected: string, actual: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(actual)];
  return left.length === right.length && timingSafeEqual(left, right);
}
