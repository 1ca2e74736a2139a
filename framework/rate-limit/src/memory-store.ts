import { randomBytes } from 'node:crypto';

import { aFunction, aWholeNumber, readOptions } from '@fw/core/options';

import { createCount } from './algorithms.ts';
import { KeyTable } from './key-table.ts';
import type { Counter, Hit, Policy, RateLimitStore } from './store.ts';

export interface MemoryStoreOptions {
  /** How many keys are counted at once; 1,000 take about 200 kB. Default 100,000. */
  readonly maxKeys?: number;
  /** Milliseconds that never step back. Default: since the process started. */
  readonly clock?: () => number;
}

/** A store in the memory of this process. */
export interface MemoryStore extends RateLimitStore {
  /** Returns the counts of `policy`, which need no waiting. */
  counter(policy: Policy): MemoryCounter;
  /** Number of stored keys, including expired keys that have not been removed yet. */
  readonly size: number;
}

/** Counts without waiting. */
export interface MemoryCounter extends Required<Counter> {
  /** Counts a request that costs `cost`, unless `cost` exceeds the remaining limit. */
  hit(key: string, cost: number): Hit;
}

const MAX_KEYS = 2 ** 24 - 2;
/** V8 copies a map when it grows. Maps of this size take a few milliseconds. */
const KEYS_PER_TABLE = 2 ** 15;

/**
 * Counts in the memory of this process. When it contains `maxKeys` keys, a new key evicts the oldest key,
 * and a blocked key only if all are blocked.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = 100_000, clock = () => performance.now() } = readOptions(
    'memoryStore()',
    options,
    { maxKeys: aWholeNumber(1, MAX_KEYS), clock: aFunction },
  );
  const tables = createTables(maxKeys);
  const tableOf = createTableChoice(tables);
  /** Prefixes of the keys by policy: joining texts takes a tenth of a hit, so the first policy has none. */
  const scopes = new Map<string, string>();
  /** No client can choose a key of the first policy that is one of another. */
  const secret = randomBytes(6).toString('base64url');

  return {
    get size() {
      return tables.reduce((sum, table) => sum + table.size, 0);
    },
    counter(policy) {
      const { name, algorithm, max, windowMs, burst } = policy;
      const identity = JSON.stringify([name, algorithm, max, windowMs, burst]);
      const scope = scopes.get(identity) ?? (scopes.size === 0 ? '' : `${secret}${scopes.size}:`);
      scopes.set(identity, scope);
      const count = createCount(policy);

      return {
        hit(key, cost) {
          const nowMs = clock();
          const scopedKey = scope + key;
          const table = tableOf(scopedKey);
          const id = table.find(scopedKey) ?? table.add(scopedKey, nowMs);
          const hit = count(table.records, { id, cost, nowMs });
          if (hit.allowed && cost > 0) {
            const isBlocked = hit.remaining < 1;
            // A rejected hit changes nothing; its `resetMs` is when it would be allowed.
            const blockedMs = isBlocked ? count(table.records, { id, cost: 1, nowMs }).resetMs : 0;
            table.update(scopedKey, id, {
              expiresMs: nowMs + hit.resetMs,
              blockedUntilMs: isBlocked ? nowMs + blockedMs : 0,
            });
          }
          return hit;
        },
        findRefusal(key, cost) {
          const nowMs = clock();
          const scopedKey = scope + key;
          const table = tableOf(scopedKey);
          const id = table.find(scopedKey);
          if (id === undefined) return undefined;
          if (count(table.records, { id, cost: 0, nowMs }).remaining >= cost) return undefined;
          return count(table.records, { id, cost, nowMs });
        },
      };
    },
  };
}

/** Tables of about equal size for `maxKeys` keys in all. */
function createTables(maxKeys: number): readonly KeyTable[] {
  const count = Math.ceil(maxKeys / KEYS_PER_TABLE);
  return Array.from(
    { length: count },
    (_, index) =>
      new KeyTable(
        Math.floor(((index + 1) * maxKeys) / count) - Math.floor((index * maxKeys) / count),
      ),
  );
}

/** Chooses the table of a key by a hash (FNV-1a) with a random start, so that no client can choose it. */
function createTableChoice([first, ...more]: readonly KeyTable[]): (key: string) => KeyTable {
  const tables = [first as KeyTable, ...more];
  if (more.length === 0) return () => tables[0] as KeyTable;
  const seed = randomBytes(4).readInt32LE();
  return (key) => {
    let hash = seed;
    for (let at = 0; at < key.length; at++) {
      hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    }
    return tables[Math.floor(((hash >>> 0) / 2 ** 32) * tables.length)] as KeyTable;
  };
}
