import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

import type { ByteRange } from './range.ts';

/** As much as a stream of Node reads at once. A part of this size is read without a stream. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The part of a file: bytes if it is small, else a stream that closes the file. Both fail if the file has
 * become shorter: a response with fewer bytes than its `Content-Length` would make the client wait.
 */
export async function readContent(
  handle: FileHandle,
  range: ByteRange,
): Promise<Buffer | Readable> {
  const length = range.end - range.start;
  if (length > CHUNK_BYTES) return createFileStream(handle, range);
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(bytes, 0, length, range.start);
  if (bytesRead < length) throw becameShorter();
  return bytes;
}

function becameShorter(): Error {
  return new Error('The file became shorter while it was sent');
}

function createFileStream(handle: FileHandle, { start, end }: ByteRange): Readable {
  let position = start;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (position >= end) {
        this.push(null);
        return;
      }
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
      handle.read(buffer, 0, buffer.length, position).then(
        ({ bytesRead }) => {
          position += bytesRead;
          if (bytesRead > 0) this.push(buffer.subarray(0, bytesRead));
          else this.destroy(becameShorter());
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (failure: Error) => done(error ?? failure),
      );
    },
  });
}
