import fs from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** An open regular file. */
export interface OpenFile {
  /** The file descriptor, which the caller must close. */
  readonly fd: number;
  readonly sizeBytes: number;
  /** The time of the last change, in whole seconds as in `Last-Modified`. */
  readonly modifiedMs: number;
  /** A strong entity tag of size, time of change and content coding. */
  readonly etag: string;
  readonly coding?: string;
}

/** Characters that separate folders or streams on some system, and names with a special meaning on Windows. */
const SPECIAL = /[/\\:\0]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a file or folder with this name is served. `..` and other dot names are not. */
function isServed(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !SPECIAL.test(name);
}

/**
 * The names of the folders and the file for `path`, a path in normal form after the prefix; `undefined`
 * if one of the names is not served. A folder with a trailing slash is its `index.html`.
 */
export function readSegments(path: string): readonly string[] | undefined {
  const names = path.split('/').slice(1).map(decodeURIComponent);
  if (names.at(-1) === '') names[names.length - 1] = 'index.html';
  return names.every(isServed) ? names : undefined;
}

/** The file does not exist, or something else has its name. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO']);

/** Opening a named pipe without a writer would otherwise wait. */
const FLAGS = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

const open = promisify(fs.open);
const read = promisify(fs.read);

/**
 * Opens a file in `root`. Symbolic links are followed as long as they lead to a served name in `root`.
 *
 * @throws {Error} if the file exists and cannot be read
 */
export async function findFile(
  root: string,
  segments: readonly string[],
): Promise<OpenFile | 'folder' | undefined> {
  try {
    const path = await realpath(join(root, ...segments));
    if (path !== root && !relative(root, path).split(sep).every(isServed)) return undefined;
    return inspect(await open(path, FLAGS));
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/**
 * Closes anything but a regular file. The state of an open file is in memory: `fstat` and `close` do not
 * wait for the disk, and a thread of the pool would cost more than they do.
 */
function inspect(fd: number): OpenFile | 'folder' | undefined {
  let isFile = false;
  try {
    const stats = fs.fstatSync(fd, { bigint: true });
    isFile = stats.isFile();
    if (!isFile) return stats.isDirectory() ? 'folder' : undefined;
    const modifiedMs = Math.floor(Number(stats.mtimeMs) / 1_000) * 1_000;
    const etag = `"${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}"`;
    return { fd, sizeBytes: Number(stats.size), modifiedMs, etag };
  } finally {
    if (!isFile) fs.closeSync(fd);
  }
}

/** A part of a file: from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** As much as a stream of Node reads at once. A part of this size is read without a stream. */
const CHUNK_BYTES = 64 * 1024;

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
