import type { Hit, Policy } from './store.ts';

/** Bytes of one record: 8 for its key's fingerprint, 8 for a time, 16 for counts. */
export const RECORD_BYTES = 32;

/** Where the parts of record `id` begin, in elements of the view they are read by. */
const timeAt = (id: number) => id * 4 + 1;
const numberAt = (id: number) => id * 4 + 2;
const COUNTS_BYTE = 16;

/** Views of one buffer that holds a record for each key. */
export interface Records {
  readonly bytes: Uint8Array;
  readonly shorts: Uint16Array;
  readonly words: Uint32Array;
  readonly floats: Float64Array;
}

export function createRecords(count: number): Records {
  const buffer = new ArrayBuffer(count * RECORD_BYTES);
  return {
    bytes: new Uint8Array(buffer),
    shorts: new Uint16Array(buffer),
    words: new Uint32Array(buffer),
    floats: new Float64Array(buffer),
  };
}

/** Makes record `id` one that has counted nothing yet, whatever its policy. */
export function clearRecord({ floats }: Records, id: number): void {
  floats[timeAt(id)] = Number.NEGATIVE_INFINITY;
  floats[numberAt(id)] = 0;
  floats[numberAt(id) + 1] = 0;
}

/** Counts by one policy in records. Times are milliseconds of a clock that never steps back. */
export interface RecordCounter {
  hit(id: number, cost: number, nowMs: number): Hit;
  /** Whether nothing of the record counts any more. */
  isSpent(id: number, nowMs: number): boolean;
  /** When a hit of cost 1 passes; not after `nowMs` if it would now. */
  blockedUntil(id: number, nowMs: number): number;
}

export function createRecordCounter(records: Records, policy: Policy): RecordCounter {
  if (policy.algorithm === 'fixed-window') return new FixedWindow(records, policy);
  if (policy.algorithm === 'token-bucket') return new TokenBucket(records, policy);
  return new SlidingWindow(records, policy);
}

/**
 * Counts in slots, one of which more than covers the window: what cannot be told apart from a hit
 * within the window counts as one, so no interval as long as the window holds more than `max`. The
 * newest slot leaves exactly one window after its last hit, so nobody waits longer than that.
 *
 * The price is paid by a client that keeps coming at the very limit: it gets (slots - 1) / slots of
 * it. The larger `max`, the wider a count, and the fewer slots fit.
 */
class SlidingWindow implements RecordCounter {
  readonly #times: Float64Array;
  readonly #counts: Uint8Array | Uint16Array | Uint32Array;
  readonly #max: number;
  readonly #windowMs: number;
  readonly #slots: number;
  readonly #slotMs: number;

  constructor(records: Records, { max, windowMs }: Policy) {
    this.#times = records.floats;
    this.#counts = max <= 0xff ? records.bytes : max <= 0xffff ? records.shorts : records.words;
    this.#max = max;
    this.#windowMs = windowMs;
    this.#slots = (RECORD_BYTES - COUNTS_BYTE) / this.#counts.BYTES_PER_ELEMENT;
    this.#slotMs = windowMs / (this.#slots - 1);
  }

  hit(id: number, cost: number, nowMs: number): Hit {
    const age = this.#age(id, nowMs);
    const used = this.#used(id, age);
    const left = this.#max - used;
    if (cost > left) {
      return {
        allowed: false,
        remaining: left,
        resetMs: this.#leavesIn(id, age, cost - left, nowMs),
      };
    }
    if (cost > 0) {
      const newest = this.#newest(id);
      if (age > 0) this.#shift(newest, age);
      this.#counts[newest] = (this.#counts[newest] ?? 0) + cost;
      this.#times[timeAt(id)] = nowMs;
    }
    const lastMs = this.#times[timeAt(id)] ?? nowMs;
    return {
      allowed: true,
      remaining: left - cost,
      resetMs: Math.max(0, this.#windowMs - (nowMs - lastMs)),
    };
  }

  isSpent(id: number, nowMs: number): boolean {
    return nowMs - (this.#times[timeAt(id)] ?? 0) >= this.#windowMs;
  }

  blockedUntil(id: number, nowMs: number): number {
    const age = this.#age(id, nowMs);
    const missing = this.#used(id, age) + 1 - this.#max;
    return missing > 0 ? nowMs + this.#leavesIn(id, age, missing, nowMs) : nowMs;
  }

  /** Where the newest count stands; the older ones follow it. */
  #newest(id: number): number {
    return (id * RECORD_BYTES + COUNTS_BYTE) / this.#counts.BYTES_PER_ELEMENT;
  }

  /** How many slots ago the newest count was made; all of them if nothing of the record counts. */
  #age(id: number, nowMs: number): number {
    const lastMs = this.#times[timeAt(id)] ?? 0;
    if (nowMs - lastMs >= this.#windowMs) return this.#slots;
    return Math.floor(nowMs / this.#slotMs) - Math.floor(lastMs / this.#slotMs);
  }

  #used(id: number, age: number): number {
    const newest = this.#newest(id);
    const end = newest + this.#slots - age;
    let used = 0;
    for (let at = newest; at < end; at++) used += this.#counts[at] ?? 0;
    return used;
  }

  /**
   * In how many milliseconds `missing` of what is counted has left the window. A time in the past is
   * subtracted first, so that rounding never makes it more than a window.
   */
  #leavesIn(id: number, age: number, missing: number, nowMs: number): number {
    if (age >= this.#slots) return this.#windowMs;
    const lastMs = this.#times[timeAt(id)] ?? 0;
    const slot = Math.floor(lastMs / this.#slotMs);
    const newest = this.#newest(id);
    let left = 0;
    for (let back = this.#slots - 1 - age; back > 0; back--) {
      left += this.#counts[newest + back] ?? 0;
      if (left >= missing) return this.#windowMs - (nowMs - (slot - back + 1) * this.#slotMs);
    }
    return this.#windowMs - (nowMs - lastMs);
  }

  #shift(newest: number, age: number): void {
    for (let slot = this.#slots - 1; slot >= 0; slot--) {
      this.#counts[newest + slot] = slot < age ? 0 : (this.#counts[newest + slot - age] ?? 0);
    }
  }
}

/** Counts from a key's first hit until the window ends: twice `max` may pass around that end. */
class FixedWindow implements RecordCounter {
  readonly #floats: Float64Array;
  readonly #policy: Policy;

  constructor(records: Records, policy: Policy) {
    this.#floats = records.floats;
    this.#policy = policy;
  }

  hit(id: number, cost: number, nowMs: number): Hit {
    const isNew = this.isSpent(id, nowMs);
    const endMs = isNew ? nowMs + this.#policy.windowMs : (this.#floats[timeAt(id)] ?? 0);
    const used = isNew ? 0 : (this.#floats[numberAt(id)] ?? 0);
    const left = this.#policy.max - used;
    const allowed = cost <= left;
    if (allowed && cost > 0) {
      this.#floats[timeAt(id)] = endMs;
      this.#floats[numberAt(id)] = used + cost;
    }
    const resetMs = Math.min(this.#policy.windowMs, endMs - nowMs);
    return { allowed, remaining: allowed ? left - cost : left, resetMs };
  }

  isSpent(id: number, nowMs: number): boolean {
    return nowMs >= (this.#floats[timeAt(id)] ?? 0);
  }

  blockedUntil(id: number, nowMs: number): number {
    const used = this.#floats[numberAt(id)] ?? 0;
    return used >= this.#policy.max ? (this.#floats[timeAt(id)] ?? 0) : nowMs;
  }
}

/** What a sum of rates may be off by: a token is whole when it is this near to it. */
const ROUNDING = 1e-6;

/**
 * A bucket of `burst` tokens that refills at `max` per window: the generic cell rate algorithm,
 * with what is missing in the bucket and since when in place of a theoretical arrival time.
 */
class TokenBucket implements RecordCounter {
  readonly #floats: Float64Array;
  readonly #burst: number;
  readonly #msPerToken: number;

  constructor(records: Records, { burst, max, windowMs }: Policy) {
    this.#floats = records.floats;
    this.#burst = burst;
    this.#msPerToken = windowMs / max;
  }

  hit(id: number, cost: number, nowMs: number): Hit {
    const missing = this.#missing(id, nowMs);
    const lacking = missing + cost - this.#burst;
    if (lacking > ROUNDING) {
      const resetMs = lacking * this.#msPerToken;
      return { allowed: false, remaining: this.#left(missing), resetMs };
    }
    const after = Math.min(missing + cost, this.#burst);
    if (cost > 0) {
      this.#floats[timeAt(id)] = nowMs;
      this.#floats[numberAt(id)] = after;
    }
    return { allowed: true, remaining: this.#left(after), resetMs: after * this.#msPerToken };
  }

  isSpent(id: number, nowMs: number): boolean {
    return this.#missing(id, nowMs) === 0;
  }

  blockedUntil(id: number, nowMs: number): number {
    const lacking = this.#missing(id, nowMs) + 1 - this.#burst;
    return lacking > ROUNDING ? nowMs + lacking * this.#msPerToken : nowMs;
  }

  #missing(id: number, nowMs: number): number {
    const refilled = (nowMs - (this.#floats[timeAt(id)] ?? 0)) / this.#msPerToken;
    return Math.max(0, (this.#floats[numberAt(id)] ?? 0) - refilled);
  }

  #left(missing: number): number {
    return Math.max(0, Math.floor(this.#burst - missing + ROUNDING));
  }
}
