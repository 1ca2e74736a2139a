import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { annotate, type Middleware } from '@fw/core';
import {
  BODY_LIMIT_BYTES,
  bodyTooLarge,
  createTypeReader,
  discardRest,
  hasBody,
  isBodyRead,
  readBody,
} from '@fw/core/body';
import { hasParsedBody, hasRun } from '@fw/core/extension';
import { aBoolean, aWholeNumber, check } from '@fw/core/options';
import { UnsupportedMediaTypeError } from '@fw/errors';

export interface BodyOptions {
  /** Maximum size of a body in bytes, after decoding. Default 1 MiB. */
  readonly limit?: number;
  /** Accepts bodies encoded with gzip, deflate or br. Default false. */
  readonly inflate?: boolean;
}

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
export const BODY_CHECKS = {
  limit: check(
    `a whole number of bytes from 1 to ${MAX_BYTES}`,
    aWholeNumber(1, MAX_BYTES).accepts,
  ),
  inflate: aBoolean,
};

/** The bodies that a parser reads. */
interface Format extends BodyOptions {
  /** For the error, such as `JSON`. */
  readonly name: string;
  readonly mediaTypes: readonly string[];
  /** Whether a media type, in lower case and without parameters, is one of them. */
  readonly accepts: (mediaType: string) => boolean;
  /** The value of an empty body, and of none. Default `undefined`. */
  readonly empty?: unknown;
  /** @throws {BadRequestError} if the body is invalid */
  readonly parse: (bytes: Buffer) => unknown;
  /** The errors of `parse` with codes of their own. */
  readonly errors?: readonly { readonly status: number; readonly code: string }[];
}

/** Reads bodies of one format into `ctx.body`. Those of GET and HEAD are not read. */
export function createParser(format: Format): Middleware {
  const { limit = BODY_LIMIT_BYTES, inflate = false, mediaTypes, errors, empty, parse } = format;
  const checkHeaders = createHeaderCheck({ ...format, limit, inflate });
  const read: Middleware = (ctx, next) => {
    const { req, res } = ctx.raw;
    if (hasParsedBody(ctx)) return next();
    if (!hasBody(req) || isBodyRead(req)) {
      ctx.body = empty;
      return next();
    }
    const headerError = checkHeaders(req);
    // Empty bodies are never rejected. Whether a chunked one is empty is known only at its end.
    const isChunked = req.headers['content-length'] === undefined;
    if (headerError && !isChunked) {
      discardRest(req);
      throw headerError;
    }
    const decoded = headerError ? undefined : decoder(req);
    return readBody(req, res, { limitBytes: limit, decoded }).then((bytes) => {
      if (headerError && bytes.length > 0) throw headerError;
      ctx.body = bytes.length > 0 ? parse(bytes) : empty;
      const running = next();
      if (!hasRun(running)) return running;
    });
  };
  return annotate(read, { body: { mediaTypes, limit, ...(errors && { errors }) } });
}

/** Returns a function that returns the error for a body that must be rejected because of its headers. */
function createHeaderCheck({
  name,
  mediaTypes,
  accepts,
  limit,
  inflate,
}: Format & Required<BodyOptions>) {
  const isAccepted = createTypeReader((mediaType) => accepts(mediaType) || undefined);
  return ({ headers }: IncomingMessage): Error | undefined => {
    const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (coding !== 'identity' && !(inflate && DECODERS.has(coding))) {
      const codings = inflate ? [...DECODERS.keys()].join(', ') : 'identity';
      const headers = { 'Accept-Encoding': codings };
      return new UnsupportedMediaTypeError(
        `The content coding of the body must be one of: ${codings}`,
        { headers },
      );
    }
    if (!isAccepted(headers['content-type'])) {
      const accepted = mediaTypes.join(', ');
      return new UnsupportedMediaTypeError(`The body must be ${name} in UTF-8: ${accepted}`, {
        headers: { Accept: accepted },
      });
    }
    return Number(headers['content-length'] ?? 0) > limit ? bodyTooLarge(limit) : undefined;
  };
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
