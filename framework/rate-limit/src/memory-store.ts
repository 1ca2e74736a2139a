import { randomBytes } from 'node:crypto';

import { aFunction, aWholeNumber, readOptions } from '@fw/core/options';

import {
  clearRecord,
  createRecordCounter,
  createRecords,
  type RecordCounter,
  type Records,
} from './algorithms.ts';
import { KeyedHash } from './keyed-hash.ts';
import type { Counter, Hit, Policy, RateLimitStore } from './store.ts';

export interface MemoryStoreOptions {
  /** How many keys are counted at once, at 40 bytes each. Default 100,000. */
  readonly maxKeys?: number;
  /** Milliseconds that never step back. Default: since the process started. */
  readonly clock?: () => number;
}

export interface MemoryStore extends RateLimitStore {
  counter(policy: Policy): MemoryCounter;
  /** How many keys it holds, spent ones included that have not been swept up yet. */
  readonly size: number;
}

/** Counts at once. */
export interface MemoryCounter extends Required<Counter> {
  hit(key: string, cost: number): Hit;
}

/**
 * Counts in the memory of this process, within a fixed number of bytes. Of more keys than it can
 * hold it forgets the ones that came first, and those that are blocked only when all are.
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = 100_000, clock = () => performance.now() } = readOptions(
    'memoryStore()',
    options,
    { maxKeys: aWholeNumber(1, MAX_KEYS), clock: aFunction },
  );
  return new TableStore(maxKeys, clock);
}

/** The position of a key takes 24 bits of an index entry, so that 8 are left for its hash. */
const MAX_KEYS = 2 ** 24 - 2;
const MAX_POLICIES = 255;
/** Entries of the index per key: two comparisons find a key, on average. */
const INDEX_RATIO = 1.5;
/** Records that each new key looks at for spent ones: more are freed than taken. */
const SWEPT_PER_KEY = 4;

const GROUP = 32;
const ALL_BLOCKED = -1;

/**
 * A hash table of fixed size with linear probing: an index of positions, and the records themselves,
 * which never move. It is never rebuilt, so no request waits for that.
 */
class TableStore implements MemoryStore {
  readonly #clock: () => number;
  readonly #maxKeys: number;
  readonly #hash = new KeyedHash(new Uint32Array(new Uint8Array(randomBytes(8)).buffer));
  readonly #records: Records;
  /** Entry: position of the record + 1 in the low bits, part of the hash above them; 0 is empty. */
  readonly #index: Uint32Array;
  readonly #positionMask: number;
  readonly #hashMask: number;
  /** The policy of each record; 0: the record is free. */
  readonly #policies: Uint8Array;
  readonly #counters: RecordCounter[] = [];
  readonly #scopes = new Map<string, number>();
  /** A bit for each record whose key is blocked, by groups of 32. */
  readonly #blocked: Int32Array;
  /** No block of a group ends before this. */
  readonly #blockedUntil: Float64Array;

  /** Free records: those never used from here on, and a chain of given back ones. */
  #unused = 0;
  #firstFree = -1;
  #sweptTo = 0;
  #evictedTo = 0;
  size = 0;

  constructor(maxKeys: number, clock: () => number) {
    const positionBits = 32 - Math.clz32(maxKeys);
    const groups = Math.ceil(maxKeys / GROUP);
    this.#clock = clock;
    this.#maxKeys = maxKeys;
    this.#records = createRecords(maxKeys);
    this.#index = new Uint32Array(Math.ceil(maxKeys * INDEX_RATIO) + 1);
    this.#positionMask = 2 ** positionBits - 1;
    this.#hashMask = ~this.#positionMask;
    this.#policies = new Uint8Array(maxKeys);
    this.#blocked = new Int32Array(groups);
    this.#blockedUntil = new Float64Array(groups).fill(Number.POSITIVE_INFINITY);
    // What is beyond the last record must never be chosen.
    if (maxKeys % GROUP > 0) this.#blocked[groups - 1] = -1 << (maxKeys % GROUP);
  }

  counter(policy: Policy): MemoryCounter {
    const { name, algorithm, max, windowMs, burst } = policy;
    const identity = JSON.stringify([name, algorithm, max, windowMs, burst]);
    const scope = this.#scopes.get(identity) ?? this.#addPolicy(identity, policy);
    const counter = createRecordCounter(this.#records, policy);
    return {
      hit: (key, cost) => this.#hit(counter, scope, key, cost),
      findRefusal: (key, cost) => this.#findRefusal(counter, scope, key, cost),
    };
  }

  #addPolicy(identity: string, policy: Policy): number {
    const scope = this.#scopes.size + 1;
    if (scope > MAX_POLICIES) {
      throw new RangeError(
        `Cannot count by policy "${policy.name}": expected at most ${MAX_POLICIES} policies in one memory store`,
      );
    }
    this.#scopes.set(identity, scope);
    this.#counters[scope] = createRecordCounter(this.#records, policy);
    return scope;
  }

  #hit(counter: RecordCounter, scope: number, key: string, cost: number): Hit {
    const nowMs = this.#clock();
    this.#hash.hash(scope, key);
    const low = this.#hash.output[0] ?? 0;
    const high = this.#hash.output[1] ?? 0;
    const known = this.#find(low, high);
    const id = known < 0 ? this.#insert({ low, high, scope, nowMs }) : known;
    const hit = counter.hit(id, cost, nowMs);
    this.#setBlocked(id, hit.remaining < 1 ? counter.blockedUntil(id, nowMs) : nowMs, nowMs);
    return hit;
  }

  #findRefusal(counter: RecordCounter, scope: number, key: string, cost: number): Hit | undefined {
    const nowMs = this.#clock();
    this.#hash.hash(scope, key);
    const id = this.#find(this.#hash.output[0] ?? 0, this.#hash.output[1] ?? 0);
    // A hit that costs nothing counts nothing, and neither does one that is refused.
    if (id < 0 || counter.hit(id, 0, nowMs).remaining >= cost) return undefined;
    return counter.hit(id, cost, nowMs);
  }

  #find(low: number, high: number): number {
    const words = this.#records.words;
    for (let at = this.#home(low); ; at = this.#after(at)) {
      const entry = this.#index[at] ?? 0;
      if (entry === 0) return -1;
      if (((entry ^ high) & this.#hashMask) !== 0) continue;
      const id = (entry & this.#positionMask) - 1;
      if (words[id * 8] === low && words[id * 8 + 1] === high) return id;
    }
  }

  #insert(key: { low: number; high: number; scope: number; nowMs: number }): number {
    const { low, high, scope, nowMs } = key;
    this.#sweep(nowMs);
    if (this.size === this.#maxKeys) this.#remove(this.#chooseVictim(nowMs));
    const id = this.#takeFree();
    let at = this.#home(low);
    while (this.#index[at] !== 0) at = this.#after(at);
    this.#index[at] = (high & this.#hashMask) | (id + 1);
    this.#records.words[id * 8] = low;
    this.#records.words[id * 8 + 1] = high;
    this.#policies[id] = scope;
    clearRecord(this.#records, id);
    this.size++;
    return id;
  }

  #takeFree(): number {
    const id = this.#firstFree;
    if (id < 0) return this.#unused++;
    this.#firstFree = (this.#records.words[id * 8] ?? 0) - 1;
    return id;
  }

  #remove(id: number): void {
    const words = this.#records.words;
    let hole = this.#home(words[id * 8] ?? 0);
    while (((this.#index[hole] ?? 0) & this.#positionMask) !== id + 1) hole = this.#after(hole);
    // Every entry behind the hole that would no longer be found moves into it.
    for (let at = this.#after(hole); ; at = this.#after(at)) {
      const entry = this.#index[at] ?? 0;
      if (entry === 0) break;
      const home = this.#home(words[((entry & this.#positionMask) - 1) * 8] ?? 0);
      if (this.#distance(home, at) < this.#distance(hole, at)) continue;
      this.#index[hole] = entry;
      hole = at;
    }
    this.#index[hole] = 0;
    this.#policies[id] = 0;
    this.#clearBlocked(id);
    words[id * 8] = this.#firstFree + 1;
    this.#firstFree = id;
    this.size--;
  }

  /** Gives back what the next few records hold if it is spent. */
  #sweep(nowMs: number): void {
    for (let step = Math.min(SWEPT_PER_KEY, this.#unused); step > 0; step--) {
      if (this.#sweptTo >= this.#unused) this.#sweptTo = 0;
      const id = this.#sweptTo++;
      if (this.#counterOf(id)?.isSpent(id, nowMs)) this.#remove(id);
    }
  }

  /**
   * The next record whose key is not blocked, so that all take their turn; any if all are blocked.
   * A bit stands for each, because looking at a million records would take far too long.
   */
  #chooseVictim(nowMs: number): number {
    const start = this.#evictedTo % this.#maxKeys;
    const groups = this.#blocked.length;
    for (let step = 0; step <= groups; step++) {
      const group = ((start >>> 5) + step) % groups;
      this.#release(group, nowMs);
      const candidates = ~(this.#blocked[group] ?? 0) & (step === 0 ? -1 << (start & 31) : -1);
      if (candidates !== 0) {
        const id = group * GROUP + (31 - Math.clz32(candidates & -candidates));
        this.#evictedTo = id + 1;
        return id;
      }
    }
    this.#evictedTo = start + 1;
    return start;
  }

  /** Takes back the bits of blocks that have ended, where all of a group are set. */
  #release(group: number, nowMs: number): void {
    if (this.#blocked[group] !== ALL_BLOCKED || (this.#blockedUntil[group] ?? 0) > nowMs) return;
    let earliest = Number.POSITIVE_INFINITY;
    const end = Math.min(this.#maxKeys, (group + 1) * GROUP);
    for (let id = group * GROUP; id < end; id++) {
      const until = this.#counterOf(id)?.blockedUntil(id, nowMs) ?? nowMs;
      if (until > nowMs) earliest = Math.min(earliest, until);
      else this.#clearBlocked(id);
    }
    this.#blockedUntil[group] = earliest;
  }

  #counterOf(id: number): RecordCounter | undefined {
    return this.#counters[this.#policies[id] ?? 0];
  }

  #setBlocked(id: number, until: number, nowMs: number): void {
    if (until <= nowMs) {
      this.#clearBlocked(id);
      return;
    }
    const group = id >>> 5;
    this.#blocked[group] = (this.#blocked[group] ?? 0) | (1 << (id & 31));
    if (until < (this.#blockedUntil[group] ?? 0)) this.#blockedUntil[group] = until;
  }

  #clearBlocked(id: number): void {
    const group = id >>> 5;
    const bits = this.#blocked[group] ?? 0;
    const bit = 1 << (id & 31);
    if ((bits & bit) !== 0) this.#blocked[group] = bits & ~bit;
  }

  /** Where in the index the search for a key begins. */
  #home(low: number): number {
    return Math.floor((low * this.#index.length) / 2 ** 32);
  }

  #after(at: number): number {
    return at + 1 === this.#index.length ? 0 : at + 1;
  }

  #distance(from: number, to: number): number {
    return to >= from ? to - from : to - from + this.#index.length;
  }
}
