import { aWholeNumber, readOptions } from '@fw/core/options';

import type { ClaimStore, Saved } from './store.ts';

export interface MemoryStoreOptions {
  /** Maximum size of the stored responses, in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
}

interface Entry extends Saved {
  readonly endMs: number;
  readonly bytes: number;
}

/** The objects of one entry, in bytes, besides its texts. */
const ENTRY_BYTES = 300;

/**
 * Stores responses in the memory of this process, for a service with one process. Beyond `maxBytes` the
 * oldest responses are forgotten. A restart forgets all of them.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function memoryStore(options: MemoryStoreOptions = {}): ClaimStore {
  const { maxBytes = 64 * 1024 ** 2 } = readOptions('memoryStore()', options, {
    maxBytes: aWholeNumber(1024 ** 2, 2 ** 40),
  });
  /** The requests in progress, which the server limits. */
  const running = new Map<string, Saved>();
  /** Oldest first. */
  const done = new Map<string, Entry>();
  let bytes = 0;

  function forget(key: string, entry: Entry): void {
    bytes -= entry.bytes;
    done.delete(key);
  }

  function forgetOldest(nowMs: number): void {
    for (const [key, entry] of done) {
      if (bytes <= maxBytes && entry.endMs > nowMs) return;
      forget(key, entry);
    }
  }

  return {
    async claim({ key, fingerprint, nowMs }) {
      const entry = done.get(key);
      const known = running.get(key) ?? (entry && entry.endMs > nowMs ? entry : undefined);
      if (known) return known;
      if (entry) forget(key, entry);
      running.set(key, { fingerprint });
      return undefined;
    },
    async finish({ key, fingerprint, nowMs, retentionMs }, response) {
      const entry = {
        fingerprint,
        response,
        endMs: nowMs + retentionMs,
        bytes: sizeOf(key, response),
      };
      running.delete(key);
      done.set(key, entry);
      bytes += entry.bytes;
      forgetOldest(nowMs);
      return true;
    },
    async release({ key }) {
      running.delete(key);
    },
  };
}

/** V8 stores characters beyond Latin-1 in two bytes, and then all of that text. */
function sizeOf(key: string, response: string): number {
  return ENTRY_BYTES + 2 * (key.length + response.length);
}
