import { aWholeNumber, badOption, check, oneOf } from '@fw/core/options';

import { readDuration } from './duration.ts';
import type { Algorithm, Policy } from './store.ts';

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

const ALGORITHMS: readonly Algorithm[] = ['sliding-window', 'fixed-window', 'token-bucket'];
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
