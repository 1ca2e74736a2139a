import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The content of a file, decompressed, read once. */
export interface Source {
  readonly chunks: AsyncIterable<Buffer>;
  /** The part of the file that has been read, from 0 to 1; `undefined` for a pipe. */
  readonly done: () => number | undefined;
  /** SHA-256 of the content that has been read, as hexadecimal digits. */
  readonly digest: () => string;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Opens a file, or standard input for `-`. Detects gzip by its content. When `signal` aborts, reading
 * fails with an `AbortError`, even while it waits for data.
 *
 * @throws {Error} if the file does not exist or is a directory
 */
export function openSource(file: string, signal: AbortSignal): Source {
  if (file === '-') return createSource(addAbortSignal(signal, process.stdin));
  // Without O_NONBLOCK, opening a named pipe stops the process until a writer opens it.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = fstatSync(descriptor);
  if (stats.isDirectory()) {
    closeSync(descriptor);
    throw new Error('it is a directory');
  }
  if (stats.isFIFO()) {
    const pipe = new Socket({ fd: descriptor, readable: true, writable: false });
    return createSource(addAbortSignal(signal, pipe));
  }
  const stream = createReadStream(file, { fd: descriptor, highWaterMark: CHUNK_BYTES });
  const done = () => (stats.size > 0 ? Math.min(1, stream.bytesRead / stats.size) : undefined);
  return createSource(addAbortSignal(signal, stream), done);
}

/** The content of a stream of bytes. */
export function createSource(stream: Readable, done: Source['done'] = () => undefined): Source {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of decompress(stream)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return { chunks: hashed(), done, digest: () => hash.copy().digest('hex') };
}

async function* decompress(stream: Readable): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    head = Buffer.concat([head, next.value]);
    if (head.length >= 2) break;
  }
  async function* content(): AsyncGenerator<Buffer> {
    yield head;
    yield* chunks;
  }
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* content();
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // An error of either stream ends `gunzip`, and so the loop that reads it.
  pipeline(content, gunzip, () => {});
  yield* gunzip;
}
