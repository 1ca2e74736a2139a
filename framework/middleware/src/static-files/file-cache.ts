import { type BigIntStats, stat as statWithCallback } from 'node:fs';
import { promisify } from 'node:util';

import type { FileState } from './find-file.ts';

/** A file that need not be opened. */
export interface CachedFile extends FileState {
  readonly content: Buffer;
}

/** The sum of the sizes of all files in the cache of a folder. */
const MAX_BYTES = 16 * 1024 ** 2;

/** A file counts as larger by its path and state, about as much as they need. */
const ENTRY_BYTES = 1_024;

/** Two changes within this time can have the same time stamp, depending on the file system. */
const TIMESTAMP_MS = 2_000;

const stat = promisify(statWithCallback);

interface Entry {
  readonly stats: BigIntStats;
  readonly file: CachedFile;
}

/** The content of the small files that were requested last. */
export class FileCache {
  /** By path; those that were requested last are at the end. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** The file at `path`, if it is in the cache and has not changed. */
  async find(path: string): Promise<CachedFile | undefined> {
    const entry = this.#entries.get(path);
    if (!entry) return undefined;
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    const isCurrent = stats !== undefined && isSameState(stats, entry.stats);
    if (this.#entries.get(path) === entry) {
      this.#delete(path);
      if (isCurrent) this.#append(path, entry);
    }
    return isCurrent ? entry.file : undefined;
  }

  /** Adds a file that was read after it had the state `stats`. */
  add(path: string, stats: BigIntStats, file: CachedFile): void {
    if (Date.now() - Number(stats.ctimeMs) < TIMESTAMP_MS) return;
    this.#delete(path);
    this.#append(path, { stats, file });
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#delete(oldest);
    }
  }

  #append(path: string, entry: Entry): void {
    this.#entries.set(path, entry);
    this.#bytes += ENTRY_BYTES + entry.file.sizeBytes;
  }

  #delete(path: string): void {
    const entry = this.#entries.get(path);
    if (!entry) return;
    this.#entries.delete(path);
    this.#bytes -= ENTRY_BYTES + entry.file.sizeBytes;
  }
}

function isSameState(left: BigIntStats, right: BigIntStats): boolean {
  return (['ctimeNs', 'mtimeNs', 'size', 'ino', 'dev'] as const).every(
    (name) => left[name] === right[name],
  );
}
