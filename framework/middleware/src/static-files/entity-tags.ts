import { createHash } from 'node:crypto';
import fs, { type BigIntStats } from 'node:fs';
import { promisify } from 'node:util';

import { hasSameState, isRecent } from './file-cache.ts';

/** The hash of a larger file would take too much time. */
const MAX_HASHED_BYTES = 8n * 1024n ** 2n;

const CHUNK_BYTES = 256 * 1024;

/** Each takes about 300 bytes of memory. */
const MAX_TAGS = 10_000;

const read = promisify(fs.read);

interface Entry {
  readonly stats: BigIntStats;
  readonly tag: Promise<string>;
}

/**
 * The entity tags of files: hashes of their content, which are kept as long as the files do not change. Builds
 * that are reproducible give the files of all releases the same time of change.
 */
export class EntityTags {
  /** By path; the newest are at the end. */
  readonly #entries = new Map<string, Entry>();

  /** The strong tag of an open file; of more than 8 MiB, from its size and times, which differ between replicas. */
  tagOf(fd: number, path: string, stats: BigIntStats): Promise<string> | string {
    const { size, mtimeNs, ctimeNs } = stats;
    if (size > MAX_HASHED_BYTES) {
      return `"${[size, mtimeNs, ctimeNs].map((number) => number.toString(36)).join('-')}"`;
    }
    const known = this.#entries.get(path);
    if (known && hasSameState(known.stats, stats)) return known.tag;
    this.#entries.delete(path);
    const tag = hashOf(fd, Number(size));
    if (isRecent(stats)) return tag;
    const entry = { stats, tag };
    this.#entries.set(path, entry);
    tag.catch(() => {
      if (this.#entries.get(path) === entry) this.#entries.delete(path);
    });
    const [oldest = ''] = this.#entries.keys();
    if (this.#entries.size > MAX_TAGS) this.#entries.delete(oldest);
    return tag;
  }
}

async function hashOf(fd: number, sizeBytes: number): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(sizeBytes, CHUNK_BYTES));
  for (let position = 0; position < sizeBytes; ) {
    const { bytesRead } = await read(fd, buffer, 0, buffer.length, position);
    if (bytesRead === 0) break; // it became shorter: sending it will fail
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return `"${hash.digest('base64url').slice(0, 27)}"`;
}
