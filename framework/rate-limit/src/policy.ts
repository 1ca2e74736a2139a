import { aWholeNumber, badOption, check, oneOf } from '@fw/core/options';

import { ALGORITHMS, type Algorithm, type Policy } from './store.ts';

/** What a limiter allows, with defaults. */
export interface PolicyOptions {
  /** The limit per window. Default 100. */
  readonly max?: number;
  /** The length of the window: `30s`, `1m`, or milliseconds. Default `1m`. */
  readonly window?: string | number;
  /** Default `sliding-window`: no interval as long as the window contains more than `max`. */
  readonly algorithm?: Algorithm;
  /** Only for `token-bucket`: the limit at once. Default `max`. */
  readonly burst?: number;
  /** The name of the policy in headers and in a shared store. Default, for example, `100-per-1m`. */
  readonly name?: string;
}

/** Characters that need no escape in a structured field (RFC 9651 §3.3.3) and in a key of any store. */
const NAME = /^[\w.:-]{1,64}$/;
export const MAX_COUNT = 2 ** 32 - 1;

export const POLICY_CHECKS = {
  max: aWholeNumber(1, MAX_COUNT),
  window: check(
    'a form such as "30s" or "1m", or milliseconds, up to a year',
    (value) => readDuration(value) !== undefined,
  ),
  algorithm: oneOf(ALGORITHMS),
  burst: aWholeNumber(1, MAX_COUNT),
  name: check(
    '1 to 64 of letters, digits, "_", ".", ":" and "-"',
    (value) => typeof value === 'string' && NAME.test(value),
  ),
};

/**
 * Creates a policy from options that passed `POLICY_CHECKS`.
 *
 * @throws {TypeError} if `burst` is set for another algorithm than `token-bucket`
 */
export function createPolicy(owner: string, options: PolicyOptions): Policy {
  const { max = 100, window = '1m', algorithm = 'sliding-window', burst, name } = options;
  if (burst !== undefined && algorithm !== 'token-bucket') {
    const expected = 'it with algorithm "token-bucket" only';
    throw badOption(owner, { name: 'burst', value: burst, expected });
  }
  return {
    name: name ?? `${max}-per-${typeof window === 'number' ? `${window}ms` : window}`,
    algorithm,
    max,
    windowMs: readDuration(window) ?? 0,
    burst: burst ?? max,
  };
}

const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
/** A year: longer times in milliseconds would lose fractions that the algorithms need. */
const MAX_WINDOW_MS = 366 * 86_400_000;

/**
 * Reads a window such as `30s` or `1m`, or a number of milliseconds, in milliseconds; `undefined` if it
 * is not a positive whole number, followed by ms, s, m, h or d where it is text, or longer than a year.
 */
export function readDuration(window: unknown): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d*)([a-z]+)$/.exec(String(window)) ?? [];
  const windowMs =
    typeof window === 'number' ? window : Number(count) * (UNIT_MS.get(unit) ?? Number.NaN);
  const isDuration = Number.isSafeInteger(windowMs) && windowMs > 0 && windowMs <= MAX_WINDOW_MS;
  return isDuration ? windowMs : undefined;
}
