import { createReadStream, fstatSync, openSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
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
 * Opens a file, or standard input for `-`. What begins like gzip is unpacked, whatever its name.
 *
 * @throws {Error} if there is no such file, or it is a directory
 */
export function openSource(file: string): Source {
  if (file === '-') return createSource(process.stdin, undefined);
  const descriptor = openSync(file, 'r');
  const stream = createReadStream(file, { fd: descriptor, highWaterMark: CHUNK_BYTES });
  const stats = fstatSync(descriptor);
  if (stats.isDirectory()) {
    stream.destroy();
    throw new Error('it is a directory');
  }
  return createSource(stream, stats.isFile() ? stats.size : undefined);
}

/** The content of a stream of bytes. */
export function createSource(stream: Readable, sizeBytes: number | undefined): Source {
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
  // The reader of `gunzip` is told of an error by it.
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
