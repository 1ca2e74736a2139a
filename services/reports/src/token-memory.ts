import { hash } from 'node:crypto';

export interface TokenMemoryOptions {
  /** How long a token is known. Default 30 s. */
  readonly maxAgeMs?: number;
  /** How many tokens are known at most; the one that came first goes first. Default 1,000. */
  readonly size?: number;
  /** A clock, in milliseconds. */
  readonly now?: () => number;
}

/** Remembers for a moment what was found out of tokens that are valid, and no token itself. */
export class TokenMemory<Known> {
  readonly #entries = new Map<string, { readonly known: Known; readonly untilMs: number }>();
  readonly #options: Required<TokenMemoryOptions>;

  constructor({
    maxAgeMs = 30_000,
    size = 1_000,
    now = performance.now.bind(performance),
  }: TokenMemoryOptions = {}) {
    this.#options = { maxAgeMs, size, now };
  }

  find(token: string): Known | undefined {
    const key = keyOf(token);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#options.now() < entry.untilMs) return entry.known;
    this.#entries.delete(key);
    return undefined;
  }

  add(token: string, known: Known): void {
    const { maxAgeMs, size, now } = this.#options;
    const [oldest] = this.#entries.size < size ? [] : this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(keyOf(token), { known, untilMs: now() + maxAgeMs });
  }
}

/** Of one length, and of no use to whoever reads the memory of this process. */
function keyOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
