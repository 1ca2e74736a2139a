import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

import type { ByteRange } from './range.ts';

/** As much as a stream of Node reads at once. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Reads a part of a file and closes it. Fails if the file has become shorter: a response with fewer bytes
 * than its `Content-Length` would make the client wait for the rest.
 */
export function createFileStream(handle: FileHandle, { start, end }: ByteRange): Readable {
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
          else this.destroy(new Error('The file became shorter while it was sent'));
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
