import fc from 'fast-check';
import { expect, test } from 'vitest';

import { memoryStore } from './memory-store.ts';
import { ALGORITHMS, type Algorithm, type Policy } from './store.ts';
import { LogModel } from './testing/model.ts';
import { policyOf, testStore } from './testing/store-suite.ts';

/** A clock that only `advance` moves. */
function createClock() {
  let nowMs = 1_000;
  return {
    read: () => nowMs,
    advance: (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
}

testStore('memoryStore', () => {
  const clock = createClock();
  return {
    store: memoryStore({ clock: clock.read }),
    toleranceMs: 0,
    wait: async (milliseconds) => clock.advance(milliseconds),
  };
});

const step = fc.record({
  waitMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 30 }),
    fc.integer({ max: 2_000, min: 0 }),
  ),
  key: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 })).map((key) => `key ${key}`),
  cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 6 })),
  policy: fc.integer({ min: 0, max: 3 }),
});

const POLICIES = [
  policyOf({ name: 'a', max: 5, windowMs: 100 }),
  policyOf({ name: 'b', max: 300, windowMs: 1_000 }),
  policyOf({ name: 'c', max: 4, windowMs: 97, algorithm: 'fixed-window' }),
  policyOf({ name: 'd', max: 6, windowMs: 150, algorithm: 'token-bucket', burst: 3 }),
];

test('memoryStore counts like a log of every hit as long as no key is evicted', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const clock = createClock();
      const store = memoryStore({ maxKeys: 13 * POLICIES.length, clock: clock.read });
      const counters = POLICIES.map((policy) => store.counter(policy));
      const models = POLICIES.map((policy) => new LogModel(policy));
      for (const { waitMs, key, cost, policy } of steps) {
        clock.advance(waitMs);

        const hit = counters[policy]?.hit(key, cost);

        expect(hit).toMatchObject({ ...models[policy]?.hit(key, cost, clock.read()) });
      }
    }),
    { numRuns: 1_000 },
  );
});

test.each<readonly [Algorithm, Partial<Policy>, readonly (readonly number[])[]]>([
  [
    'sliding-window', // in slots of one second
    { max: 10, windowMs: 15_000 },
    [
      [500, 11, -10, 15_000],
      [500, 4, 6, 15_000],
      [1_500, 3, 3, 15_000],
      [3_200, 0, 3, 13_300],
      [3_200, 4, -3, 12_800], // when the first slot leaves the window
      [3_200, 7, -3, 12_800],
      [3_200, 8, -3, 13_300], // when all slots have left it
      [15_999, 4, -3, 1],
      [15_999, 1, 2, 15_000],
      [15_999, 0, 2, 15_000],
      [16_000, 1, 5, 15_000],
      [16_500, 6, -5, 500], // when the second slot leaves it
      [16_500, 9, -5, 14_500], // when the slot of 15,999 does
      [40_000, 11, -10, 15_000],
      [40_000, 0, 10, 0],
    ],
  ],
  [
    'fixed-window',
    { max: 10, windowMs: 1_000 },
    [
      [500, 11, -10, 1_000],
      [500, 4, 6, 1_000],
      [700, 0, 6, 800],
      [700, 7, -6, 800],
      [1_499, 6, 0, 1],
      [1_500, 0, 10, 1_000],
      [1_700, 1, 9, 1_000],
    ],
  ],
  [
    'token-bucket',
    { max: 10, windowMs: 1_000, burst: 5 },
    [
      [500, 6, -5, 100],
      [500, 4, 1, 400],
      [550, 0, 1, 350],
      [550, 2, -1, 50],
      [600, 2, 0, 500],
      [700, 0, 1, 400],
      [5_000, 0, 5, 0],
    ],
  ],
])(
  '%s counts each hit as [time, cost, remaining (minus: rejected), resetMs]',
  (algorithm, limits, hits) => {
    let nowMs = 0;
    const store = memoryStore({ clock: () => nowMs });
    const counter = store.counter(policyOf({ algorithm, ...limits }));

    const counted = hits.map(([atMs = 0, cost = 0]) => {
      nowMs = atMs;
      const { allowed, remaining, resetMs } = counter.hit('key', cost);
      return [atMs, cost, allowed ? remaining : -remaining, resetMs];
    });

    expect(counted).toEqual(hits);
  },
);

test('memoryStore rejects a hit for resetMs, then allows it', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      (steps, cost) => {
        const clock = createClock();
        const store = memoryStore({ maxKeys: POLICIES.length, clock: clock.read });
        const counters = POLICIES.map((policy) => store.counter(policy));
        for (const { waitMs, policy, cost: earlier } of steps) {
          clock.advance(waitMs);
          counters[policy]?.hit('key', earlier);
        }
        for (const [at, counter] of counters.entries()) {
          if (cost > (POLICIES[at]?.burst ?? 0)) continue;
          const rejected = counter.hit('key', cost);
          if (rejected.allowed) continue;

          clock.advance(rejected.resetMs * 0.99);
          const early = counter.hit('key', cost);
          clock.advance(early.resetMs + 1e-6);
          const onTime = counter.hit('key', cost);

          expect([early.allowed, onTime.allowed]).toEqual([false, true]);
          expect(rejected.resetMs).toBeLessThanOrEqual(POLICIES[at]?.windowMs ?? 0);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each(ALGORITHMS)('%s: resetMs never exceeds the window at any time', (algorithm) => {
  const anyTime = fc.double({ min: 0, max: 1e12, noNaN: true });
  const pause = fc.double({ min: 0, max: 60_000, noNaN: true });
  fc.assert(
    fc.property(anyTime, pause, (startMs, pauseMs) => {
      let nowMs = startMs;
      const store = memoryStore({ maxKeys: 1, clock: () => nowMs });
      const counter = store.counter(policyOf({ algorithm, max: 1, windowMs: 60_000 }));

      const first = counter.hit('key', 1);
      const again = counter.hit('key', 1);
      nowMs += pauseMs;
      const later = counter.hit('key', 1);

      for (const { resetMs } of [first, again, later]) {
        expect(resetMs).toBeGreaterThanOrEqual(0);
        expect(resetMs).toBeLessThanOrEqual(60_000);
      }
    }),
    { numRuns: 2_000 },
  );
});

test.each([5, 300, 70_000])(
  'a sliding window of %i allows no more than that in any interval of its length',
  (max) => {
    const policy = policyOf({ max, windowMs: 1_000 });
    const pace = fc.record({
      waitMs: fc.oneof(
        fc.double({ min: 0, max: 80, noNaN: true }),
        fc.constantFrom(0, 499, 930, 999, 1_000),
      ),
      cost: fc.integer({ min: 1, max }),
    });
    fc.assert(
      fc.property(fc.array(pace, { maxLength: 100 }), (paces) => {
        const clock = createClock();
        const counter = memoryStore({ maxKeys: 1, clock: clock.read }).counter(policy);
        const passed: { atMs: number; cost: number }[] = [];
        for (const { waitMs, cost } of paces) {
          clock.advance(waitMs);
          for (const size of [cost, Math.ceil(max / 10), 1]) {
            if (counter.hit('key', size).allowed) passed.push({ atMs: clock.read(), cost: size });
          }
        }
        for (const { atMs: fromMs } of passed) {
          const sum = passed
            .filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 1_000)
            .reduce((total, { cost }) => total + cost, 0);
          expect(sum).toBeLessThanOrEqual(max);
        }
      }),
      { numRuns: 500 },
    );
  },
);

test.each([
  ['open', 1],
  ['blocked', 3],
])('memoryStore removes %s keys whose window has passed', (_, cost) => {
  const clock = createClock();
  const store = memoryStore({ maxKeys: 1_000, clock: clock.read });
  store.counter(policyOf({ name: 'long', windowMs: 60_000 })).hit('kept', cost);
  const counter = store.counter(policyOf({ windowMs: 1_000 }));
  for (let key = 0; key < 999; key++) counter.hit(`old ${key}`, cost);

  clock.advance(1_000);
  for (let key = 0; key < 400; key++) counter.hit(`new ${key}`, 1);

  expect(store.size).toBe(401);
});

test.each(ALGORITHMS)('%s: a key whose hits cost nothing is not kept', (algorithm) => {
  const store = memoryStore({ maxKeys: 10, clock: () => 0 });
  const counter = store.counter(policyOf({ algorithm }));

  for (let key = 0; key < 10; key++) counter.hit(`key ${key}`, 0);

  expect(store.size).toBe(1);
});

test('a full memoryStore evicts the key that was added first, also if it was used again', () => {
  const store = memoryStore({ maxKeys: 5, clock: () => 0 });
  const counter = store.counter(policyOf({ max: 9, windowMs: 60_000 }));
  const left = (key: string) => counter.findRefusal(key, 10)?.remaining;
  const keys = ['a', 'b', 'c', 'd', 'e'];
  for (const key of [...keys, ...keys.toReversed()]) counter.hit(key, 1);

  for (const key of ['f', 'g']) counter.hit(key, 1);

  expect([...keys, 'f', 'g'].map(left)).toEqual([undefined, undefined, 7, 7, 7, 8, 8]);
});

test('a store whose keys are all blocked evicts the one that was blocked first', () => {
  const counter = memoryStore({ maxKeys: 2, clock: () => 0 }).counter(policyOf({ max: 1 }));

  const passed = ['a', 'b', 'c', 'd', 'c', 'd', 'b', 'd', 'c'].filter(
    (key) => counter.hit(key, 1).allowed,
  );

  expect(passed).toEqual(['a', 'b', 'c', 'd', 'b', 'c']);
});

test('a key whose block has ended is evicted before a key that is still blocked', () => {
  const clock = createClock();
  const store = memoryStore({ maxKeys: 2, clock: clock.read });
  const long = store.counter(policyOf({ name: 'long', max: 1, windowMs: 60_000 }));
  const short = store.counter(policyOf({ algorithm: 'token-bucket', max: 10, windowMs: 1_000 }));
  long.hit('blocked', 1);
  short.hit('refilled', 10);

  clock.advance(100);
  short.hit('new', 1);

  expect(store.size).toBe(2);
  expect(long.findRefusal('blocked', 1)).toMatchObject({ allowed: false });
  expect(short.findRefusal('new', 10)).toMatchObject({ remaining: 9 });
});

test('a blocked key is not evicted as long as any key is open', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 70 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 40 })), {
        minLength: 200,
        maxLength: 400,
      }),
      (maxKeys, steps) => {
        const clock = createClock();
        const store = memoryStore({ maxKeys, clock: clock.read });
        const policy = policyOf({ max: 1, windowMs: 500, algorithm: 'fixed-window' });
        const counter = store.counter(policy);
        const blockedUntil = new Map<string, number>();
        for (const [number, waitMs] of steps) {
          clock.advance(waitMs);
          const key = `key ${number}`;
          const blocked = [...blockedUntil].filter(([, until]) => until > clock.read());
          const isBlocked = (blockedUntil.get(key) ?? 0) > clock.read();
          if (!isBlocked && blocked.length >= maxKeys) continue; // a blocked key has to be evicted

          const { allowed, resetMs } = counter.hit(key, 1);

          expect(allowed).toBe(!isBlocked);
          blockedUntil.set(key, clock.read() + resetMs);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('memoryStore counts more keys than one of its tables contains', () => {
  const store = memoryStore({ maxKeys: 2 ** 15 + 1, clock: () => 0 });
  const counter = store.counter(policyOf({ max: 3 }));

  for (let key = 0; key < 17_500; key++) counter.hit(`key ${key}`, 1);
  const again = Array.from({ length: 100 }, (_, key) => counter.hit(`key ${key}`, 1));

  expect(store.size).toBe(17_500);
  expect(new Set(again.map(({ remaining }) => remaining))).toEqual(new Set([1]));
});
