import { type Middleware, markFactories } from '@fw/core';
import { parseJson } from '@fw/core/body';
import { aBoolean, readOptions } from '@fw/core/options';
import { BadRequestError } from '@fw/errors';

import { BODY_CHECKS, type BodyOptions, createParser } from './parser.ts';

export interface JsonOptions extends BodyOptions {
  /** Accepts only objects and arrays. Default true. */
  readonly strict?: boolean;
}

const MEDIA_TYPES = ['application/json', 'application/*+json'];

/** `application/json`, or a type that ends in `+json` (RFC 6839 §3.1). */
const JSON_TYPE = /^application\/(?:.*\+)?json$/;

/**
 * Parses JSON bodies into `ctx.body`; an empty body leaves it `undefined`. Invalid bodies get 400, 413
 * or 415 before the handler runs. Bodies of GET and HEAD are not parsed.
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function json(options: JsonOptions = {}): Middleware {
  const checks = { ...BODY_CHECKS, strict: aBoolean };
  const { strict = true, ...limits } = readOptions('json()', options, checks);
  return createParser({
    ...limits,
    name: 'JSON',
    mediaTypes: MEDIA_TYPES,
    accepts: (type) => JSON_TYPE.test(type),
    parse: (bytes) => parseStrictly(bytes, strict),
    errors: [{ status: 400, code: 'INVALID_JSON' }],
  });
}

function parseStrictly(bytes: Buffer, strict: boolean): unknown {
  const value = parseJson(bytes);
  if (strict && (typeof value !== 'object' || value === null)) {
    throw new BadRequestError('The body must be a JSON object or array', { code: 'INVALID_JSON' });
  }
  return value;
}

markFactories({ json });
