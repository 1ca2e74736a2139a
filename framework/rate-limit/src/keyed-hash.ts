/**
 * HalfSipHash-1-3 with 64 bits of output, over a number and the UTF-16 of a text. Without the secret
 * nobody can choose keys that meet in one slot (https://github.com/veorq/SipHash).
 */
export class KeyedHash {
  /** The two halves of the last hash. A typed array, because such numbers in a field are allocated. */
  readonly output = new Uint32Array(2);
  readonly #secret: Int32Array;

  /** @param secret two 32-bit numbers */
  constructor(secret: Uint32Array) {
    this.#secret = Int32Array.from(secret);
  }

  /** Hashes `text` under `scope` into `output`. */
  hash(scope: number, text: string): void {
    const k0 = this.#secret[0] ?? 0;
    const k1 = this.#secret[1] ?? 0;
    let v0 = k0;
    let v1 = k1 ^ 0xee;
    let v2 = k0 ^ 0x6c796765;
    let v3 = k1 ^ 0x74656462;

    // The words: `scope`, two characters each, and the length with an odd last character.
    const { length } = text;
    const pairs = length >>> 1;
    for (let at = -1; at <= pairs; at++) {
      let word = scope;
      if (at === pairs) {
        word = (((length << 1) + 4) << 24) | (length & 1 ? text.charCodeAt(length - 1) : 0);
      } else if (at >= 0) {
        word = text.charCodeAt(at << 1) | (text.charCodeAt((at << 1) + 1) << 16);
      }
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }

    v2 ^= 0xee;
    for (let round = 0; round < 6; round++) {
      if (round === 3) {
        this.output[0] = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.output[1] = v1 ^ v3;
  }
}
