import { aWholeNumber, readOptions } from '@fw/core/options';

import type { Attempt, ClaimStore, Saved } from './store.ts';

export interface MemoryStoreOptions {
  /** Maximum size of the stored responses, in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
}

interface Entry extends Saved {
  readonly attempt: Attempt;
  readonly bytes: number;
}

/** The objects of one entry, in bytes, besides its texts. */
const ENTRY_BYTES = 500;

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
  const running = new Map<string, Entry>();
  /** Oldest first. */
  const done = new Map<string, Entry>();
  let bytes = 0;

  function forget(entry: Entry): void {
    bytes -= entry.bytes;
    done.delete(entry.attempt.key);
  }

  function forgetOldest(nowMs: number): void {
    for (const entry of done.values()) {
      if (bytes <= maxBytes && !isExpired(entry, nowMs)) return;
      forget(entry);
    }
  }

  return {
    async claim(attempt) {
      const { key, fingerprint, nowMs } = attempt;
      const known = running.get(key) ?? done.get(key);
      if (known && (known.response === undefined || !isExpired(known, nowMs))) return known;
      if (known) forget(known);
      running.set(key, { attempt, fingerprint, bytes: 0 });
      return undefined;
    },
    async finish(attempt, response) {
      const { key, fingerprint, nowMs } = attempt;
      const entry = { attempt, fingerprint, response, bytes: sizeOf(key, response) };
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

function isExpired({ attempt }: Entry, nowMs: number): boolean {
  return attempt.nowMs + attempt.retentionMs <= nowMs;
}

/** V8 stores characters beyond Latin-1 in two bytes, and then all of that text. */
function sizeOf(key: string, response: string): number {
  return ENTRY_BYTES + 2 * (key.length + response.length);
}
