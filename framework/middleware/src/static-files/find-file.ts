import fs from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';

import { acceptedEncodings } from '../shared/accept.ts';
import { EntityTags } from './entity-tags.ts';
import { type CachedFile, FileCache, type FileState } from './file-cache.ts';

/** An open regular file, which the caller must close. */
export interface OpenFile extends FileState {
  readonly fd: number;
  /** Adds the file to the cache; `content` is the whole content. */
  readonly addToCache: (content: Buffer) => void;
}

export type FoundFile = OpenFile | CachedFile;

/** Characters that separate folders or streams on some system, and names with a special meaning on Windows. */
const SPECIAL = /[/\\:\0]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a file or folder with this name is served. `..` and other dot names are not. */
export function isServed(name: string): boolean {
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

/** On Linux, links from the descriptors of this process to its open files. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = fs.existsSync(DESCRIPTORS);

/** Content codings and their file extensions, usually the smallest file first. */
const EXTENSIONS = new Map([
  ['br', '.br'],
  ['zstd', '.zst'],
  ['gzip', '.gz'],
]);
const CODINGS = [...EXTENSIONS.keys()];

/** Nix, Bazel, ZIP and others give every file one of the first times. */
const FIRST_TIME_MS = Date.parse('1980-01-03');

/** NaN for a time of change that no change changes. */
function modifiedMsOf({ mtimeMs }: fs.BigIntStats): number {
  const modifiedMs = Math.floor(Number(mtimeMs) / 1_000) * 1_000;
  return modifiedMs < FIRST_TIME_MS ? Number.NaN : modifiedMs;
}

/** What a finder keeps in memory. */
interface Kept {
  readonly tags: EntityTags;
  /** Must not be shared by finders: its files are in the root of this one. Without it, no content is kept. */
  readonly cache?: FileCache;
}

/** Finds files in `root`, a folder without symbolic links. */
export function createFileFinder(
  root: string,
  { tags, cache }: Kept = { tags: new EntityTags(), cache: new FileCache() },
) {
  /**
   * Finds a file. Symbolic links are followed as long as they lead to a served name in `root`.
   *
   * @throws {Error} if the file exists and cannot be read
   */
  async function findFile(segments: readonly string[]): Promise<FoundFile | 'folder' | undefined> {
    const path = join(root, ...segments);
    const cached = await cache?.find(path);
    if (cached) return cached;
    try {
      return await inspect(await open(path, FLAGS), path);
    } catch (error) {
      if (MISSING.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  /**
   * Closes anything but a regular file with a served name in `root`. The state of an open file is in
   * memory: `readlink` of its descriptor, `fstat` and `close` do not wait for the disk, and a thread of the
   * pool would cost more than they do.
   */
  async function inspect(fd: number, path: string): Promise<OpenFile | 'folder' | undefined> {
    let isFile = false;
    try {
      const stats = fs.fstatSync(fd, { bigint: true });
      const target = hasDescriptors
        ? fs.readlinkSync(`${DESCRIPTORS}/${fd}`)
        : await realpath(path);
      if (target !== root && !relative(root, target).split(sep).every(isServed)) return undefined;
      isFile = stats.isFile();
      if (!isFile) return stats.isDirectory() ? 'folder' : undefined;
      isFile = false; // closed if the tag cannot be read
      const state: FileState = {
        sizeBytes: Number(stats.size),
        modifiedMs: modifiedMsOf(stats),
        etag: await tags.tagOf(fd, path, stats),
      };
      isFile = true;
      return {
        ...state,
        fd,
        addToCache: (content) => cache?.add(path, stats, { ...state, content }),
      };
    } finally {
      if (!isFile) fs.closeSync(fd);
    }
  }

  /** Finds the compressed variant of a file that the client prefers; `undefined` if there is none. */
  async function findPrecompressed(
    segments: readonly string[],
    acceptEncoding: string,
  ): Promise<FoundFile | undefined> {
    for (const coding of acceptedEncodings(acceptEncoding, CODINGS)) {
      const variant = [...segments.slice(0, -1), `${segments.at(-1)}${EXTENSIONS.get(coding)}`];
      const file = await findFile(variant);
      if (file === undefined || file === 'folder') continue;
      return { ...file, coding, etag: file.etag.replace(/"$/, `-${coding}"`) };
    }
    return undefined;
  }

  return { findFile, findPrecompressed };
}
