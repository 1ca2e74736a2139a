import { parseDuration } from './duration.ts';
import type { Algorithm, Policy } from './store.ts';

/** What a limiter is made from, as a user writes it. */
export interface PolicyOptions {
  /** How much passes per window. Default 100. */
  readonly max?: number;
  /** The length of the window: `30s`, `1m`, or milliseconds. Default `1m`. */
  readonly window?: string | number;
  /** Default `sliding-window`: no interval as long as the window holds more than `max`. */
  readonly algorithm?: Algorithm;
  /** Only for `token-bucket`: how much passes at once. Default `max`. */
  readonly burst?: number;
  /** Names the policy to clients, and tells its counts from others in a shared store. Default such as `100-per-1m`. */
  readonly name?: string;
}

const ALGORITHMS: readonly unknown[] = [
  'sliding-window',
  'fixed-window',
  'token-bucket',
] satisfies Algorithm[];
/** What a structured field's string may hold (RFC 9651 §3.3.3) without an escape, and a key of any store. */
const NAME = /^[\w.:-]{1,64}$/;
export const MAX_COUNT = 2 ** 32 - 1;

/**
 * Reads what a limiter allows.
 *
 * @throws {RangeError} naming the option, its value and what was expected
 */
export function readPolicy(options: PolicyOptions): Policy {
  const { max = 100, window = '1m', algorithm = 'sliding-window', burst, name } = options;
  readWhole('max', max, 1, MAX_COUNT);
  const windowMs = parseDuration(window);
  if (!ALGORITHMS.includes(algorithm)) throw unreadable('algorithm', algorithm, ALGORITHMS);
  if (burst !== undefined && algorithm !== 'token-bucket') {
    throw new RangeError(
      `Cannot read option burst "${burst}": expected it with algorithm "token-bucket" only`,
    );
  }
  if (name !== undefined && !(typeof name === 'string' && NAME.test(name))) {
    throw new RangeError(
      `Cannot read option name "${String(name)}": expected 1 to 64 of letters, digits, "_", ".", ":" and "-"`,
    );
  }
  return {
    name: name ?? `${max}-per-${typeof window === 'number' ? `${window}ms` : window}`,
    algorithm,
    max,
    windowMs,
    burst: readWhole('burst', burst ?? max, 1, MAX_COUNT),
  };
}

/** @throws {RangeError} if `value` is no whole number from `least` to `most` */
export function readWhole(option: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(
    `Cannot read option ${option} "${String(value)}": expected a whole number from ${least} to ${most}`,
  );
}

/** @throws {RangeError} if `options` has a name that is none of `known`: it would be ignored */
export function checkOptionNames(owner: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new RangeError(
      `Cannot read option "${name}" of ${owner}: expected one of ${known.join(', ')}`,
    );
  }
}

/** The error for an option that must be one of a few words. */
export function unreadable(option: string, value: unknown, known: readonly unknown[]): RangeError {
  const expected = known.map((word) => `"${String(word)}"`).join(', ');
  return new RangeError(
    `Cannot read option ${option} "${String(value)}": expected one of ${expected}`,
  );
}
