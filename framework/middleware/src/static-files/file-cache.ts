import { type BigIntStats, stat as statWithCallback } from 'node:fs';
import { promisify } from 'node:util';

/** What a response says about a file. */
export interface FileState {
  readonly sizeBytes: number;
  /** The time of the last change, in whole seconds as in `Last-Modified`; NaN if it is not known. */
  readonly modifiedMs: number;
  /** A strong entity tag of content and content coding. */
  readonly etag: string;
  readonly coding?: string;
}

/** A file that need not be opened. */
export interface CachedFile extends FileState {
  readonly content: Buffer;
}

/** Files up to this size are read at once and kept; larger ones are sent as streams. */
export const SMALL_FILE_BYTES = 64 * 1024;

/** The memory of one `staticFiles()` for files. */
const MAX_BYTES = 16 * 1024 ** 2;

/** Counted for each file besides its content: its path and state. */
const ENTRY_BYTES = 1_024;

/** Two changes within this time can have the same time stamp, depending on the file system. */
const TIMESTAMP_RESOLUTION_MS = 2_000;

const stat = promisify(statWithCallback);

interface Entry {
  readonly stats: BigIntStats;
  readonly file: CachedFile;
}

/** The small files that were requested last, as long as they do not change. */
export class FileCache {
  /** By path; those that were requested last are at the end. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** The file at `path`, if it is in the cache and has not changed. */
  async find(path: string): Promise<CachedFile | undefined> {
    const entry = this.#entries.get(path);
    if (!entry) return undefined;
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    const isCurrent = stats !== undefined && hasSameState(stats, entry.stats);
    if (this.#entries.get(path) === entry) {
      this.#delete(path);
      if (isCurrent) this.#append(path, entry);
    }
    return isCurrent ? entry.file : undefined;
  }

  /**
   * Adds a file whose content was read after `stats`, unless it changed less than two seconds ago: its
   * next change could have the same time stamp.
   */
  add(path: string, stats: BigIntStats, file: CachedFile): void {
    if (isRecent(stats)) return;
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

/** Whether a file may change once more without a new time stamp. */
export function isRecent({ ctimeMs }: BigIntStats): boolean {
  return Date.now() - Number(ctimeMs) < TIMESTAMP_RESOLUTION_MS;
}

export function hasSameState(left: BigIntStats, right: BigIntStats): boolean {
  return (['ctimeNs', 'mtimeNs', 'size', 'ino', 'dev'] as const).every(
    (name) => left[name] === right[name],
  );
}
