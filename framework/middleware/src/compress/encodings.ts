import { pipeline, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

import { type Content, isStream } from '@fw/core/extension';

/** A content coding (RFC 9110 §8.4.1, RFC 8878 for zstd). */
export type Encoding = 'zstd' | 'br' | 'gzip';

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

/** The encodings of this Node version, the cheapest first: zstd exists since Node 22.15. */
export const ENCODINGS: readonly Encoding[] =
  typeof zlib.zstdCompressSync === 'function' ? ['zstd', 'br', 'gzip'] : ['br', 'gzip'];

/** Below this length, a thread of the pool costs more than the compression itself. */
const MAX_SYNC_BYTES = 32_768;

/** `body` in `encoding`. A stream stays a stream; destroying the result destroys it too. */
export function encode(body: Content, encoding: Encoding): Content | Promise<Content> {
  const encoder = ENCODERS[encoding];
  if (isStream(body)) return pipeline(body, encoder.stream(), () => {}); // the response reports errors
  return body.length <= MAX_SYNC_BYTES ? encoder.sync(body) : encoder.async(body);
}
