import fs from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
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
