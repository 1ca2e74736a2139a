import { expect, test } from 'vitest';

import { memoryStore } from './memory-store.ts';
import { rateLimit, tieredRateLimit } from './rate-limit.ts';
import { redisStore } from './redis.ts';

const client = { isReady: true, sendCommand: async () => [], on: () => {} };
const FUNCTIONS = {
  rateLimit,
  tieredRateLimit: (options: object) =>
    tieredRateLimit({ tierResolver: () => 'a', ...options } as never),
  memoryStore,
  redisStore: (options: object) => redisStore(client, options),
};

const COUNT = 'a whole number from 1 to 4294967295';
const COST = 'a whole number from 0 to 4294967295 or a function';
const STATUSES = 'a list of statuses such as [401]';

test.each<readonly [keyof typeof FUNCTIONS, object, string, string]>([
  ['rateLimit', { max: 0 }, 'max "0"', COUNT],
  ['rateLimit', { max: '5' }, 'max "5"', COUNT],
  ['rateLimit', { max: 1.5 }, 'max "1.5"', COUNT],
  [
    'rateLimit',
    { window: 'soon' },
    'window "soon"',
    'a form such as "30s" or "1m", or milliseconds, up to a year',
  ],
  [
    'rateLimit',
    { algorithm: 'leaky' },
    'algorithm "leaky"',
    'one of "sliding-window", "fixed-window", "token-bucket"',
  ],
  ['rateLimit', { burst: 5 }, 'burst "5"', 'it with algorithm "token-bucket" only'],
  ['rateLimit', { algorithm: 'token-bucket', burst: 0 }, 'burst "0"', COUNT],
  ['rateLimit', { name: 'a b' }, 'name "a b"', '1 to 64 of letters, digits, "_", ".", ":" and "-"'],
  ['rateLimit', { name: 5 }, 'name "5"', '1 to 64 of letters, digits, "_", ".", ":" and "-"'],
  ['rateLimit', { cost: -1 }, 'cost "-1"', COST],
  ['rateLimit', { cost: '1' }, 'cost "1"', COST],
  ['rateLimit', { skip: true }, 'skip "true"', 'a function'],
  ['rateLimit', { keyGenerator: 'ip' }, 'keyGenerator "ip"', 'a function'],
  ['rateLimit', { handler: 429 }, 'handler "429"', 'a function'],
  ['rateLimit', { store: 'redis' }, 'store "redis"', 'a store'],
  ['rateLimit', { onStoreError: 'no' }, 'onStoreError "no"', 'one of "local", "open", "closed"'],
  ['rateLimit', { ipv6Subnet: 0 }, 'ipv6Subnet "0"', 'a whole number from 1 to 128'],
  ['rateLimit', { headers: 'draft-7' }, 'headers "draft-7"', 'one of "draft-6", "draft-10"'],
  ['rateLimit', { countOnly: [] }, 'countOnly "[]"', STATUSES],
  ['rateLimit', { countOnly: [199] }, 'countOnly "[ 199 ]"', STATUSES],
  ['rateLimit', { countOnly: ['401'] }, `countOnly "[ '401' ]"`, STATUSES],
  ['rateLimit', { countOnly: 401 }, 'countOnly "401"', STATUSES],
  ['rateLimit', { countOnly: [401.5] }, 'countOnly "[ 401.5 ]"', STATUSES],
  ['rateLimit', { countOnly: [401, 600] }, 'countOnly "[ 401, 600 ]"', STATUSES],
  ['tieredRateLimit', { tiers: {} }, 'tiers "{}"', 'at least one tier by name'],
  ['tieredRateLimit', { tiers: { a: {} }, defaultTier: 'b' }, 'defaultTier "b"', 'one of "a"'],
  ['memoryStore', { maxKeys: 0 }, 'maxKeys "0"', 'a whole number from 1 to 16777214'],
  ['memoryStore', { maxKeys: 1.5 }, 'maxKeys "1.5"', 'a whole number from 1 to 16777214'],
  ['redisStore', { timeout: 0 }, 'timeout "0"', 'a whole number from 1 to 60000'],
])('%s(%j) throws: option %s, expected %s', (name, options, option, expected) => {
  expect(() => FUNCTIONS[name](options)).toThrow(
    new TypeError(`Cannot read option ${option} of ${name}(): expected ${expected}`),
  );
});

test.each<readonly [keyof typeof FUNCTIONS, object, string]>([
  [
    'rateLimit',
    { windowMs: 1_000 },
    'rateLimit() has no option "windowMs"; did you mean "window"? Its options: max, window, algorithm, burst, name, keyGenerator, store, skip, countOnly, cost, handler, onStoreError, ipv6Subnet, headers',
  ],
  [
    'tieredRateLimit',
    { tiers: { a: {} }, max: 5 },
    'tieredRateLimit() has no option "max"; its options: tiers, tierResolver, defaultTier, keyGenerator, store, skip, countOnly, cost, handler, onStoreError, ipv6Subnet, headers',
  ],
  [
    'tieredRateLimit',
    { tiers: { a: {} }, tierResolver: undefined },
    'tieredRateLimit() needs the option tierResolver: a function',
  ],
  [
    'tieredRateLimit',
    { tiers: { a: { limit: 1 } } },
    'tier "a" of tieredRateLimit() has no option "limit"; its options: max, window, algorithm, burst, name',
  ],
  [
    'tieredRateLimit',
    { tiers: { a: { max: 0 } } },
    `Cannot read option max "0" of tier "a" of tieredRateLimit(): expected ${COUNT}`,
  ],
  [
    'memoryStore',
    { max: 5 },
    'memoryStore() has no option "max"; did you mean "maxKeys"? Its options: maxKeys, clock',
  ],
  [
    'redisStore',
    { retries: 1 },
    'redisStore() has no option "retries"; its options: prefix, timeout',
  ],
])('%s(%j) throws: %s', (name, options, message) => {
  expect(() => FUNCTIONS[name](options)).toThrow(new TypeError(message));
});

test('the options of tieredRateLimit are required', () => {
  expect(() => tieredRateLimit(undefined as never)).toThrow(
    'Cannot read the options "undefined" of tieredRateLimit(): expected an object',
  );
});

test('countOnly may contain every status from 200 to 599', () => {
  expect(() => rateLimit({ countOnly: [200, 599] })).not.toThrow();
});
