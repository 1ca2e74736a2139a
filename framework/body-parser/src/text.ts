import { type Middleware, markFactories } from '@fw/core';
import { decodeUtf8 } from '@fw/core/body';
import { check, readOptions } from '@fw/core/options';
import { BadRequestError } from '@fw/errors';

import { BODY_CHECKS, type BodyOptions, createParser } from './parser.ts';

export interface TextOptions extends BodyOptions {
  /** The accepted media types. Default `text/plain`. */
  readonly types?: readonly string[];
}

/** A middleware after which `ctx.body` is a string. */
export interface TextMiddleware extends Middleware {
  readonly '~validated'?: (parts: { readonly body: string }) => void;
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;
const mediaTypes = check(
  'a list of at least one media type, in lower case and without parameters',
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((type) => typeof type === 'string' && MEDIA_TYPE.test(type)),
);

/**
 * Reads bodies of text in UTF-8 into `ctx.body`; a request without a body gets the empty string. Invalid
 * bodies get 400, 413 or 415 before the handler runs. Bodies of GET and HEAD are not read.
 *
 * ```ts
 * app.post('/webhooks/payments', text({ types: ['application/json'] }), (ctx) => {
 *   verifySignature(ctx.body, ctx.get('X-Signature')); // the body exactly as it was sent
 * });
 * ```
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function text(options: TextOptions = {}): TextMiddleware {
  const checks = { ...BODY_CHECKS, types: mediaTypes };
  const { types = ['text/plain'], ...limits } = readOptions('text()', options, checks);
  return createParser({
    ...limits,
    name: 'text',
    mediaTypes: types,
    accepts: (type) => types.includes(type),
    empty: '',
    parse: decode,
  });
}

function decode(bytes: Buffer): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new BadRequestError('The body must be UTF-8');
  return text;
}

markFactories({ text });
