import fs from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

import type { Context } from '@fw/core';
import { setStreamLength } from '@fw/core/extension';

import type { ByteRange } from './conditions.ts';
import { SMALL_FILE_BYTES } from './file-cache.ts';
import type { FoundFile, OpenFile } from './find-file.ts';

/** As much as a stream of Node reads at once. */
const CHUNK_BYTES = 64 * 1024;

const read = promisify(fs.read);

/**
 * Sends a part of a file: from the cache if it is there; else it reads the file, at once or as a stream,
 * and closes it. Reading fails if the file has become shorter: a response with fewer bytes than its
 * `Content-Length` would make the client wait.
 */
export async function sendContent(ctx: Context, file: FoundFile, range: ByteRange): Promise<void> {
  const { start, end } = range;
  if ('content' in file) {
    ctx.send(file.content.subarray(start, end));
  } else if (end - start > SMALL_FILE_BYTES) {
    ctx.send(createFileStream(file.fd, range));
    setStreamLength(ctx, end - start);
  } else {
    const bytes = await readContent(file, range).finally(() => close(file));
    if (bytes.length === file.sizeBytes) file.addToCache(bytes);
    ctx.send(bytes);
  }
}

/** Closes a file whose content is not sent. */
export function close(file: FoundFile): void {
  if ('fd' in file) fs.closeSync(file.fd);
}

async function readContent({ fd }: OpenFile, { start, end }: ByteRange): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(end - start);
  const { bytesRead } = await read(fd, bytes, 0, bytes.length, start);
  if (bytesRead < bytes.length) throw becameShorter();
  return bytes;
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
