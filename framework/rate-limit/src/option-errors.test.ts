import { expect, test } from 'vitest';

import { memoryStore } from './memory-store.ts';
import { rateLimit, tieredRateLimit } from './rate-limit.ts';
import { redisStore } from './redis.ts';

const client = { isReady: true, sendCommand: async () => [], on: () => {} };
const FUNCTIONS = {
  rateLimit,
  tieredRateLimit: (options?: object) =>
    tieredRateLimit((options && { tierResolver: () => 'a', ...options }) as never),
  memoryStore,
  redisStore: (options?: object) => redisStore(client, options),
};

const COUNT = 'a whole number from 1 to 4294967295';
const COST = 'a whole number from 0 to 4294967295 or a function';
const NAME = '1 to 64 of letters, digits, "_", ".", ":" and "-"';
const STATUSES = 'a list of statuses such as [401]';

test.each<readonly [keyof typeof FUNCTIONS, object | undefined, string]>([
  ['rateLimit', { max: 0 }, `max "0" of rateLimit(): expected ${COUNT}`],
  ['rateLimit', { window: 'soon' }, 'expected a form such as "30s" or "1m", or milliseconds'],
  ['rateLimit', { algorithm: 'leaky' }, 'expected one of "sliding-window", "fixed-window"'],
  [
    'rateLimit',
    { burst: 5 },
    'burst "5" of rateLimit(): expected it with algorithm "token-bucket"',
  ],
  [
    'rateLimit',
    { algorithm: 'token-bucket', burst: 0 },
    `burst "0" of rateLimit(): expected ${COUNT}`,
  ],
  ['rateLimit', { name: 'a b' }, `name "a b" of rateLimit(): expected ${NAME}`],
  ['rateLimit', { name: 5 }, `name "5" of rateLimit(): expected ${NAME}`],
  ['rateLimit', { cost: -1 }, `cost "-1" of rateLimit(): expected ${COST}`],
  ['rateLimit', { skip: true }, 'skip "true" of rateLimit(): expected a function'],
  ['rateLimit', { keyGenerator: 'ip' }, 'keyGenerator "ip" of rateLimit(): expected a function'],
  ['rateLimit', { handler: 429 }, 'handler "429" of rateLimit(): expected a function'],
  ['rateLimit', { store: 'redis' }, 'store "redis" of rateLimit(): expected a store'],
  ['rateLimit', { onStoreError: 'no' }, 'expected one of "local", "open", "closed"'],
  ['rateLimit', { ipv6Subnet: 0 }, 'expected a whole number from 1 to 128'],
  ['rateLimit', { headers: 'draft-7' }, 'expected one of "draft-6", "draft-10"'],
  ['rateLimit', { countOnly: [] }, `countOnly "[]" of rateLimit(): expected ${STATUSES}`],
  ['rateLimit', { countOnly: 401 }, `countOnly "401" of rateLimit(): expected ${STATUSES}`],
  ['rateLimit', { countOnly: ['401'] }, STATUSES],
  ['rateLimit', { countOnly: [199] }, STATUSES],
  ['rateLimit', { countOnly: [401, 600] }, STATUSES],
  [
    'tieredRateLimit',
    undefined,
    'the options "undefined" of tieredRateLimit(): expected an object',
  ],
  ['tieredRateLimit', { tiers: {} }, 'expected at least one tier by name'],
  [
    'tieredRateLimit',
    { tiers: { a: {} }, defaultTier: 'b' },
    'defaultTier "b" of tieredRateLimit()',
  ],
  [
    'tieredRateLimit',
    { tiers: { a: {} }, tierResolver: undefined },
    'needs the option tierResolver',
  ],
  [
    'tieredRateLimit',
    { tiers: { a: { limit: 1 } } },
    'tier "a" of tieredRateLimit() has no option',
  ],
  ['memoryStore', { maxKeys: 0 }, 'maxKeys "0" of memoryStore(): expected a whole number from 1'],
  ['redisStore', { timeout: 0 }, 'timeout "0" of redisStore(): expected a whole number'],
])('%s(%j) throws: %s', (name, options, message) => {
  const call = () => FUNCTIONS[name](options);

  expect(call).toThrow(TypeError);
  expect(call).toThrow(message);
});
