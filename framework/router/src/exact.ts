/*
 * Static paths by their spelling, in front of the tree. Hashing every character costs as much as
 * walking the tree; a sample of four tells nearly all paths apart, and one comparison is sure.
 */

/** How many places a path may be at; one that finds them all taken is left to the tree. */
const PLACES = 4;

/** Finds the number of a path that was added, to the letter. */
export class ExactPaths {
  readonly #paths: string[] = [];
  /** By place: the sample and the number of the path there, 1 more than its index; 0 for none. */
  #table = new Int32Array(2);
  #mask = 0;

  add(path: string, number: number): void {
    this.#paths[number] = path;
    this.#mask = 0; // until the next lookup
  }

  /** The number of `path`, or -1. */
  find(path: string): number {
    if (this.#mask === 0) this.#build();
    const table = this.#table;
    const mask = this.#mask;
    const sample = sampleOf(path);
    for (let step = 0; step < PLACES; step++) {
      const place = ((sample + step) & mask) << 1;
      const number = (table[place + 1] as number) - 1;
      if (number < 0) return -1;
      if (table[place] === sample && this.#paths[number] === path) return number;
    }
    return -1;
  }

  #build(): void {
    const entries = [...this.#paths.entries()].filter(([, path]) => path !== undefined);
    const size = 2 ** Math.ceil(Math.log2(4 * entries.length + 4));
    const table = new Int32Array(2 * size);
    for (const [number, path] of entries) {
      const sample = sampleOf(path);
      for (let step = 0; step < PLACES; step++) {
        const place = ((sample + step) & (size - 1)) << 1;
        if (table[place + 1] !== 0) continue;
        table[place] = sample;
        table[place + 1] = number + 1;
        break;
      }
    }
    this.#table = table;
    this.#mask = size - 1;
  }
}

/** A number made of the length and four characters; those at the end differ most among paths. */
function sampleOf(path: string): number {
  const length = path.length;
  const last = path.charCodeAt(length - 1);
  const second = path.charCodeAt(length - 2);
  const third = path.charCodeAt(length - 3);
  const middle = path.charCodeAt(length >> 1);
  const mixed = (((length * 31 + last) * 31 + second) * 31 + third) * 31 + middle;
  return (mixed ^ (mixed >>> 11)) | 0;
}
