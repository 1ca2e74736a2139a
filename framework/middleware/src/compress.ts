import { pipeline, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

import { type Context, type Middleware, markFactories } from '@fw/core';
import {
  type Content,
  hasRun,
  isStream,
  recordedBody,
  recordedLength,
  replaceBody,
  responseHeader,
} from '@fw/core/extension';
import { aListOf, aWholeNumber, oneOf, readOptions } from '@fw/core/options';

import { acceptedEncodings } from './shared/accept.ts';
import { addVary, hasCacheDirective, isCompressibleType } from './shared/response-headers.ts';

/** A content coding (RFC 9110 §8.4.1, RFC 8878 for zstd). */
export type Encoding = 'zstd' | 'br' | 'gzip';

/** The encodings of this Node version, the cheapest first: zstd exists since Node 22.15. */
const ENCODINGS: readonly Encoding[] =
  typeof zlib.zstdCompressSync === 'function' ? ['zstd', 'br', 'gzip'] : ['br', 'gzip'];

export interface CompressOptions {
  /**
   * The encodings to use; the first one wins if the client prefers several equally. Default zstd, br
   * and gzip; without zstd on Node before 22.15.
   */
  readonly encodings?: readonly Encoding[];
  /** The smallest body to compress, in bytes; a stream of unknown length is compressed. Default 1,024. */
  readonly thresholdBytes?: number;
}

/**
 * Compresses responses with the encoding that the client prefers in `Accept-Encoding`. Register it
 * before `errorHandler()` to compress problem responses too.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 */
export function compress(options: CompressOptions = {}): Middleware {
  const { encodings = ENCODINGS, thresholdBytes = 1_024 } = readOptions('compress()', options, {
    encodings: aListOf(`a list of ${ENCODINGS.join(', ')}`, oneOf(ENCODINGS)),
    thresholdBytes: aWholeNumber(0, Number.MAX_SAFE_INTEGER),
  });
  const respond = (ctx: Context): Promise<void> | undefined => {
    const body = recordedBody(ctx);
    if (body === undefined) return undefined;
    if (isPartOfCompressible(ctx)) addVary(ctx, 'Accept-Encoding');
    if (ctx.status === 304) matchStoredTag(ctx);
    else if (isLong(ctx, thresholdBytes) && isCompressible(ctx)) {
      return compressBody(ctx, body, encodings);
    }
    return undefined;
  };
  return (ctx, next) => {
    const running = next();
    return hasRun(running) ? respond(ctx) : running.then(() => respond(ctx));
  };
}

/** Returns a promise only if the body is compressed in another thread. */
function compressBody(
  ctx: Context,
  body: Content,
  encodings: readonly Encoding[],
): Promise<void> | undefined {
  addVary(ctx, 'Accept-Encoding');
  const [encoding] = acceptedEncodings(ctx.get('accept-encoding'), encodings);
  if (encoding === undefined) return undefined;
  const encoded = encode(body, encoding);
  if (!(encoded instanceof Promise)) {
    setEncoded(ctx, encoded, encoding);
    return undefined;
  }
  return encoded.then((bytes) => {
    // With `timeout()` before `compress()`, its error may have replaced the response meanwhile.
    if (recordedBody(ctx) === body) setEncoded(ctx, bytes, encoding);
  });
}

function setEncoded(ctx: Context, body: Content, encoding: Encoding): void {
  replaceBody(ctx, body);
  ctx.set('Content-Encoding', encoding);
  const etag = responseHeader(ctx, 'ETag');
  if (etag !== undefined) ctx.set('ETag', weak(etag));
  // Ranges count bytes of the encoded body, which is not the same on each request.
  if (responseHeader(ctx, 'Accept-Ranges') !== undefined) ctx.set('Accept-Ranges', 'none');
}

/** A stream of unknown length counts as long. */
function isLong(ctx: Context, thresholdBytes: number): boolean {
  const length = recordedLength(ctx);
  return length !== 0 && (length === -1 || length >= thresholdBytes);
}

/** Headers that describe the exact bytes of the body. */
const EXACT_HEADERS = ['Content-Encoding', 'Content-Range', 'Content-Digest', 'Repr-Digest'];

/** Whether the type of the response profits from compression and no header forbids it. */
function isCompressible(ctx: Context): boolean {
  return (
    ![204, 205].includes(ctx.status) &&
    isCompressibleType(responseHeader(ctx, 'Content-Type') ?? '') &&
    !hasCacheDirective(ctx, 'no-transform') &&
    EXACT_HEADERS.every((name) => responseHeader(ctx, name) === undefined)
  );
}

/**
 * Whether this is 206 or 304, and the whole response could be compressed: both have the `Vary` that it would have
 * (RFC 9110 §15.3.7, §15.4.5).
 */
function isPartOfCompressible(ctx: Context): boolean {
  if (ctx.status !== 206 && ctx.status !== 304) return false;
  const type = responseHeader(ctx, 'Content-Type');
  const isKnown = type !== undefined || ctx.status === 206;
  return (
    (!isKnown || isCompressibleType(type ?? '')) &&
    !hasCacheDirective(ctx, 'no-transform') &&
    responseHeader(ctx, 'Content-Encoding') === undefined
  );
}

/** A compressed body has other bytes than the plain one: both cannot have one strong tag (RFC 9110 §8.8.3.3). */
function weak(etag: string): string {
  return etag.startsWith('W/') ? etag : `W/${etag}`;
}

/** Gives a 304 the weak tag of the compressed response that the client has stored. */
function matchStoredTag(ctx: Context): void {
  const etag = responseHeader(ctx, 'ETag');
  if (etag === undefined || !ctx.get('if-none-match')?.includes(weak(etag))) return;
  ctx.set('ETag', weak(etag));
}

interface Encoder {
  readonly sync: (body: string | Uint8Array) => Buffer;
  readonly async: (body: string | Uint8Array) => Promise<Buffer>;
  readonly stream: () => Transform;
}

const { constants } = zlib;

// Levels for responses that are compressed on each request. The window of 128 kB limits the memory of
// a stream to about 1.5 MB and costs no size for typical JSON.
const brotli = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 17 },
};
const zstd = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 17 },
};

const ENCODERS: Readonly<Record<Encoding, Encoder>> = {
  zstd: {
    sync: (body) => zlib.zstdCompressSync(body, zstd),
    async: (body) => promisify(zlib.zstdCompress)(body, zstd),
    stream: () => zlib.createZstdCompress(zstd),
  },
  br: {
    sync: (body) => zlib.brotliCompressSync(body, brotli),
    async: (body) => promisify(zlib.brotliCompress)(body, brotli),
    stream: () => zlib.createBrotliCompress(brotli),
  },
  gzip: {
    sync: (body) => zlib.gzipSync(body),
    async: (body) => promisify(zlib.gzip)(body),
    stream: () => zlib.createGzip(),
  },
};

/** Up to this length, a thread of the pool costs more than the compression itself. */
const MAX_SYNC_BYTES = 32_768;

/** `body` in `encoding`. A stream stays a stream; destroying the result destroys it too. */
function encode(body: Content, encoding: Encoding): Content | Promise<Content> {
  const encoder = ENCODERS[encoding];
  if (isStream(body)) return pipeline(body, encoder.stream(), () => {}); // the response reports errors
  return Buffer.byteLength(body) <= MAX_SYNC_BYTES ? encoder.sync(body) : encoder.async(body);
}

markFactories({ compress });
