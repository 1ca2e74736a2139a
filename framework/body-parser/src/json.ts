import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { annotate, type Middleware, markFactories } from '@fw/core';
import {
  bodyTooLarge,
  discardRest,
  hasBody,
  hasRun,
  isBodyRead,
  parseMediaType,
  readBody,
} from '@fw/core/extension';
import { aBoolean, aWholeNumber, check, readOptions } from '@fw/core/options';
import { BadRequestError, UnsupportedMediaTypeError } from '@fw/errors';

import { parseJson } from './parse-json.ts';

export interface JsonOptions {
  /** Maximum size of a body in bytes, after decoding. Default 1 MiB. */
  readonly limit?: number;
  /** Accepts only objects and arrays. Default true. */
  readonly strict?: boolean;
  /** Accepts bodies encoded with gzip, deflate or br. Default false. */
  readonly inflate?: boolean;
}

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
const aLimit = check(
  `a whole number of bytes from 1 to ${MAX_BYTES}`,
  aWholeNumber(1, MAX_BYTES).accepts,
);
const MEDIA_TYPES = ['application/json', 'application/*+json'];

/**
 * Parses JSON bodies into `ctx.body`; an empty body leaves it `undefined`. Invalid bodies get 400, 413
 * or 415 before the handler runs. Bodies of GET and HEAD are not parsed.
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function json(options: JsonOptions = {}): Middleware {
  const {
    limit = 1024 ** 2,
    strict = true,
    inflate = false,
  } = readOptions('json()', options, { limit: aLimit, strict: aBoolean, inflate: aBoolean });
  const parse: Middleware = (ctx, next) => {
    const { req, res } = ctx.raw;
    if (!hasBody(req) || ctx.body !== undefined || isBodyRead(req)) return next();
    const headerError = checkHeaders(req, { limit, inflate });
    // A chunked body may turn out to be empty, which no header can make invalid.
    const isChunked = req.headers['content-length'] === undefined;
    if (headerError && !isChunked) {
      discardRest(req);
      throw headerError;
    }
    const decoded = headerError ? undefined : decoder(req);
    return readBody(req, res, { limitBytes: limit, decoded }).then((bytes) => {
      if (bytes.length > 0) {
        if (headerError) throw headerError;
        ctx.body = parseStrictly(bytes, strict);
      }
      const running = next();
      if (!hasRun(running)) return running;
    });
  };
  const errors = [{ status: 400, code: 'INVALID_JSON' }];
  return annotate(parse, { body: { mediaTypes: MEDIA_TYPES, limit, errors } });
}

/** Returns the error for a body that must be rejected because of its headers. */
function checkHeaders(
  { headers }: IncomingMessage,
  { limit, inflate }: { readonly limit: number; readonly inflate: boolean },
): Error | undefined {
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding !== 'identity' && !(inflate && DECODERS.has(coding))) {
    const codings = inflate ? [...DECODERS.keys()].join(', ') : 'identity';
    const headers = { 'Accept-Encoding': codings };
    return new UnsupportedMediaTypeError(
      `The content coding of the body must be one of: ${codings}`,
      { headers },
    );
  }
  if (!isJsonInUtf8(headers['content-type'])) {
    const accepted = MEDIA_TYPES.join(', ');
    return new UnsupportedMediaTypeError(`The body must be JSON in UTF-8: ${accepted}`, {
      headers: { Accept: accepted },
    });
  }
  return Number(headers['content-length'] ?? 0) > limit ? bodyTooLarge(limit) : undefined;
}

/** `application/json`, or a type that ends in `+json` (RFC 6839 §3.1). */
const JSON_TYPE = /^application\/(?:.*\+)?json$/;

/** Clients send few different types: the latest accepted type is cached. */
let acceptedType = 'application/json';

function isJsonInUtf8(header = ''): boolean {
  if (header === acceptedType) return true;
  const media = parseMediaType(header);
  const charset = media?.parameters.get('charset') ?? 'utf-8';
  if (!JSON_TYPE.test(media?.type ?? '') || !/^utf-?8$/i.test(charset)) return false;
  acceptedType = header;
  return true;
}

type Zlib = typeof import('node:zlib');
const DECODERS: ReadonlyMap<string, (zlib: Zlib) => NodeJS.ReadWriteStream & Readable> = new Map([
  ['gzip', (zlib: Zlib) => zlib.createGunzip()],
  ['deflate', (zlib: Zlib) => zlib.createInflate()],
  ['br', (zlib: Zlib) => zlib.createBrotliDecompress()],
]);

/** The decoded body; `undefined` without a content coding. */
function decoder(req: IncomingMessage): Readable | undefined {
  const create = DECODERS.get(req.headers['content-encoding']?.toLowerCase() ?? '');
  return create && req.pipe(create(process.getBuiltinModule('node:zlib')));
}

function parseStrictly(bytes: Buffer, strict: boolean): unknown {
  const value = parseJson(bytes);
  if (strict && (typeof value !== 'object' || value === null)) {
    throw new BadRequestError('The body must be a JSON object or array', { code: 'INVALID_JSON' });
  }
  return value;
}

markFactories({ json });
