import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The content of a file, unpacked, as it comes. */
export interface Source {
  readonly chunks: AsyncIterable<Buffer>;
  /** How many bytes the file has, packed as it is; not known of a pipe. */
  readonly sizeBytes: number | undefined;
  /** How many of them have been read. */
  readBytes(): number;
}

/** How much is read, and worked on, at a time. */
const CHUNK_BYTES = 2 * 1024 ** 2;

/**
 * Opens a file, or standard input for `-`. Content that begins like gzip is unpacked, independent of the name. When
 * `signal` aborts, reading fails with an `AbortError`, also while it waits for data.
 *
 * @throws {Error} if there is no such file, or it is a directory
 */
export function openSource(file: string, signal: AbortSignal): Source {
  if (file === '-') return createSource(process.stdin, { signal });
  // Opening a named pipe in blocking mode stops the process until there is a writer.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = fstatSync(descriptor);
  if (stats.isDirectory()) {
    closeSync(descriptor);
    throw new Error('it is a directory');
  }
  if (stats.isFIFO()) {
    return createSource(new Socket({ fd: descriptor, readable: true, writable: false }), {
      signal,
    });
  }
  const stream = createReadStream(file, { fd: descriptor, highWaterMark: CHUNK_BYTES });
  return createSource(stream, { signal, sizeBytes: stats.isFile() ? stats.size : undefined });
}

export interface SourceOptions {
  readonly signal?: AbortSignal;
  readonly sizeBytes?: number | undefined;
}

/** The content of a stream of bytes. */
export function createSource(stream: Readable, { signal, sizeBytes }: SourceOptions = {}): Source {
  if (signal) addAbortSignal(signal, stream);
  let readBytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of stream) {
      readBytes += chunk.length;
      yield chunk;
    }
  }
  return { chunks: unpack(counted()), sizeBytes, readBytes: () => readBytes };
}

async function* unpack(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  for await (const chunk of { [Symbol.asyncIterator]: () => untilReturn(packed) }) {
    head = Buffer.concat([head, chunk]);
    if (head.length >= 2) break;
  }
  const all = prepend(head, packed);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // An error of either ends `gunzip`, and so the loop that reads it.
  pipeline(Readable.from(all), gunzip, () => {});
  yield* gunzip;
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

/** Leaves the generator open when a loop over it ends early. */
function untilReturn<T>(generator: AsyncGenerator<T>): AsyncIterator<T> {
  return { next: () => generator.next() };
}
