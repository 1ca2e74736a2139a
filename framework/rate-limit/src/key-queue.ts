/**
 * Ids by key, in order of insertion. It keeps its iterators: a new one would skip every entry that was
 * deleted at the start of the map.
 */
export class KeyQueue {
  readonly #ids = new Map<string, number>();
  #fromOldest = this.#ids.keys();
  #oldest: string | undefined;
  #inTurn = this.#ids.entries();

  get size(): number {
    return this.#ids.size;
  }

  get(key: string): number | undefined {
    return this.#ids.get(key);
  }

  set(key: string, id: number): void {
    this.#ids.set(key, id);
  }

  delete(key: string): void {
    this.#ids.delete(key);
    if (key === this.#oldest) this.#oldest = undefined;
  }

  /** The key that was inserted first. */
  oldest(): string | undefined {
    if (this.size === 0) return undefined;
    while (this.#oldest === undefined) {
      const { done, value } = this.#fromOldest.next();
      if (done) this.#fromOldest = this.#ids.keys();
      else this.#oldest = value;
    }
    return this.#oldest;
  }

  /** Every entry in turn; starts again at the end. The queue must not be empty. */
  next(): readonly [key: string, id: number] {
    const { done, value } = this.#inTurn.next();
    if (!done) return value;
    this.#inTurn = this.#ids.entries();
    return this.#inTurn.next().value as [string, number];
  }
}
