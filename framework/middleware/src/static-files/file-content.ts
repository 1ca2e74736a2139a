import fs from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

import type { ByteRange } from './range.ts';

/** As much as a stream of Node reads at once. A part of this size is read without a stream. */
const CHUNK_BYTES = 64 * 1024;

const read = promisify(fs.read);

/**
 * The part of a file: bytes if it is small, else a stream. Both close the file, and fail if it has become
 * shorter: a response with fewer bytes than its `Content-Length` would make the client wait.
 */
export async function readContent(fd: number, range: ByteRange): Promise<Buffer | Readable> {
  const length = range.end - range.start;
  if (length > CHUNK_BYTES) return createFileStream(fd, range);
  try {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await read(fd, bytes, 0, length, range.start);
    if (bytesRead < length) throw becameShorter();
    return bytes;
  } finally {
    fs.closeSync(fd);
  }
}

function becameShorter(): Error {
  return new Error('The file became shorter while it was sent');
}

function createFileStream(fd: number, { start, end }: ByteRange): Readable {
  let position = start;
  let reading = Promise.resolve();
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (position >= end) {
        this.push(null);
        return;
      }
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
      reading = read(fd, buffer, 0, buffer.length, position).then(
        ({ bytesRead }) => {
          position += bytesRead;
          if (bytesRead > 0) this.push(buffer.subarray(0, bytesRead));
          else this.destroy(becameShorter());
        },
        (error: Error) => void this.destroy(error),
      );
    },
    destroy(error, done) {
      // A read in progress could otherwise read from another file that gets the same descriptor.
      reading.then(() => fs.close(fd, (failure) => done(error ?? failure)));
    },
  });
}
