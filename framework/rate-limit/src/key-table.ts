/** Fields of a record, counted in numbers from its id. What the last two mean depends on the algorithm. */
const EXPIRES_MS = 0;
const BLOCKED_UNTIL_MS = 1;
export const TIME_MS = 2;
export const VALUES = 3;

/** Counts of 32 bits from `VALUES` on, two in place of a number: the slots of a sliding window. */
export const SLOTS = 16;
const RECORD_LENGTH = VALUES + SLOTS / 2;

/** One record for each key, by its id. An empty record is minus infinity at `TIME_MS` and then zeros. */
export interface Records {
  readonly numbers: Float64Array;
  /** The same bytes as `numbers`. */
  readonly counts: Uint32Array;
}

/** How many keys each new key checks for expired ones: more than one, so that memory is freed. */
const CHECKED_PER_KEY = 4;

/**
 * Assigns records to at most `maxKeys` keys. When it is full, a new key evicts the oldest key, and a
 * blocked key only if all are blocked.
 */
export class KeyTable {
  readonly records: Records;
  readonly #maxKeys: number;
  readonly #open = new KeyQueue();
  readonly #blocked = new KeyQueue();
  readonly #freeIds: number[] = [];
  /** All ids from here on are free too. */
  #unusedId = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
    const numbers = new Float64Array(maxKeys * RECORD_LENGTH);
    this.records = { numbers, counts: new Uint32Array(numbers.buffer) };
  }

  get size(): number {
    return this.#open.size + this.#blocked.size;
  }

  /** The record of `key`, if it has one. */
  find(key: string): number | undefined {
    return this.#open.get(key) ?? this.#blocked.get(key);
  }

  /** Assigns an empty record to a new key. */
  add(key: string, nowMs: number): number {
    this.#removeExpired(this.#open, nowMs);
    this.#removeExpired(this.#blocked, nowMs);
    if (this.size === this.#maxKeys) this.#evict();
    const id = this.#freeIds.pop() ?? this.#takeUnusedId();
    const { numbers } = this.records;
    numbers.fill(0, id, id + RECORD_LENGTH);
    numbers[id + EXPIRES_MS] = nowMs;
    numbers[id + TIME_MS] = Number.NEGATIVE_INFINITY;
    this.#open.set(key, id);
    return id;
  }

  /** Sets when the record of a key expires, and when its block ends: 0 for a key that is not blocked. */
  update(
    key: string,
    id: number,
    { expiresMs, blockedUntilMs }: { expiresMs: number; blockedUntilMs: number },
  ): void {
    const { numbers } = this.records;
    numbers[id + EXPIRES_MS] = expiresMs;
    if (blockedUntilMs !== numbers[id + BLOCKED_UNTIL_MS])
      this.#setBlocked(key, id, blockedUntilMs);
  }

  /** Makes a key the newest blocked key, or the newest open key if `untilMs` is 0. */
  #setBlocked(key: string, id: number, untilMs: number): void {
    this.records.numbers[id + BLOCKED_UNTIL_MS] = untilMs;
    this.#open.delete(key);
    this.#blocked.delete(key);
    (untilMs === 0 ? this.#open : this.#blocked).set(key, id);
  }

  #evict(): void {
    const key = this.#open.nextOldest() ?? (this.#blocked.nextOldest() as string);
    this.#remove(key, this.find(key) as number);
  }

  #removeExpired(queue: KeyQueue, nowMs: number): void {
    const { numbers } = this.records;
    for (let check = Math.min(CHECKED_PER_KEY, queue.size); check > 0; check--) {
      const [key, id] = queue.next();
      const blockedUntilMs = numbers[id + BLOCKED_UNTIL_MS] as number;
      if ((numbers[id + EXPIRES_MS] as number) <= nowMs) this.#remove(key, id);
      else if (blockedUntilMs !== 0 && blockedUntilMs <= nowMs) this.#setBlocked(key, id, 0);
    }
  }

  #takeUnusedId(): number {
    const id = this.#unusedId;
    this.#unusedId += RECORD_LENGTH;
    return id;
  }

  #remove(key: string, id: number): void {
    this.#open.delete(key);
    this.#blocked.delete(key);
    this.#freeIds.push(id);
  }
}

/**
 * Ids by key, in order of insertion. It keeps its iterators: a new one would skip every entry that was
 * deleted at the start of the map.
 */
class KeyQueue extends Map<string, number> {
  #fromOldest = this.keys();
  #inTurn = this.entries();

  /** Copies the key: before Node 26, V8 keeps the whole header of which it may be a part. */
  override set(key: string, id: number): this {
    return super.set(` ${key}`.slice(1), id);
  }

  /** The key that was inserted first. It has to be deleted: the next call returns the one after it. */
  nextOldest(): string | undefined {
    const { done, value } = this.#fromOldest.next();
    if (!done) return value;
    this.#fromOldest = this.keys();
    return this.#fromOldest.next().value;
  }

  /** Every entry in turn; starts again at the end. The queue must not be empty. */
  next(): readonly [key: string, id: number] {
    const { done, value } = this.#inTurn.next();
    if (!done) return value;
    this.#inTurn = this.entries();
    return this.#inTurn.next().value as [string, number];
  }
}
