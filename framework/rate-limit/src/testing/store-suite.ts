import { expect, test } from 'vitest';

import { ALGORITHMS, type Policy, type RateLimitStore } from '../store.ts';

/** A store and its clock. */
export interface StoreUnderTest {
  readonly store: RateLimitStore;
  /** How far its clock may differ, in milliseconds, in addition to the time that passes. */
  readonly toleranceMs: number;
  wait(milliseconds: number): Promise<void>;
}

export function policyOf(overrides: Partial<Policy> = {}): Policy {
  const max = overrides.max ?? 3;
  return {
    name: 'suite',
    algorithm: 'sliding-window',
    max,
    windowMs: 400,
    burst: max,
    ...overrides,
  };
}

/** Tests what every store must do. `create` may return the same store each time: no key is used twice. */
export function testStore(name: string, create: () => StoreUnderTest): void {
  let serial = 0;
  const newKey = () => `key-${serial++}`;

  test.each(ALGORITHMS)(`${name}, %s: exactly max hits are allowed`, async (algorithm) => {
    const { store } = create();
    const counter = store.counter(policyOf({ algorithm, windowMs: 60_000 }));
    const key = newKey();

    const hits = [];
    for (let hit = 0; hit < 5; hit++) hits.push(await counter.hit(key, 1));

    expect(hits.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    expect(hits.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
    for (const { resetMs } of hits) {
      expect(resetMs).toBeGreaterThan(0);
      expect(resetMs).toBeLessThanOrEqual(60_000);
    }
  });

  test.each(ALGORITHMS)(
    `${name}, %s: a rejected hit is allowed after resetMs`,
    async (algorithm) => {
      const { store, wait, toleranceMs } = create();
      const counter = store.counter(policyOf({ algorithm }));
      const key = newKey();
      for (let hit = 0; hit < 3; hit++) await counter.hit(key, 1);
      const rejected = await counter.hit(key, 1);

      await wait(rejected.resetMs + toleranceMs);

      expect(rejected.allowed).toBe(false);
      expect(await counter.hit(key, 1)).toMatchObject({ allowed: true });
    },
  );

  test.each(ALGORITHMS)(
    `${name}, %s: a hit counts its whole cost or nothing`,
    async (algorithm) => {
      const { store } = create();
      const counter = store.counter(policyOf({ algorithm, max: 10, windowMs: 60_000 }));
      const key = newKey();

      expect(await counter.hit(key, 7)).toMatchObject({ allowed: true, remaining: 3 });
      expect(await counter.hit(key, 4)).toMatchObject({ allowed: false, remaining: 3 });
      expect(await counter.hit(key, 0)).toMatchObject({ allowed: true, remaining: 3 });
      expect(await counter.hit(key, 3)).toMatchObject({ allowed: true, remaining: 0 });
      expect(await counter.hit(newKey(), 11)).toMatchObject({ allowed: false, remaining: 10 });
    },
  );

  test.each(ALGORITHMS)(
    `${name}, %s: findRefusal returns the rejected hit of a blocked key, and counts nothing`,
    async (algorithm) => {
      const { store } = create();
      const counter = store.counter(policyOf({ algorithm, windowMs: 60_000 }));
      const key = newKey();

      const unknown = counter.findRefusal?.(key, 1);
      await counter.hit(key, 2);
      const free = counter.findRefusal?.(key, 1);
      await counter.hit(key, 1);
      const rejected = await counter.hit(key, 1);
      const known = counter.findRefusal?.(key, 1);

      expect([unknown, free]).toEqual([undefined, undefined]);
      expect(known).toMatchObject({ allowed: false, remaining: 0 });
      expect(known?.resetMs).toBeGreaterThan(0);
      expect(known?.resetMs).toBeLessThanOrEqual(rejected.resetMs);
      expect(counter.findRefusal?.(newKey(), 1)).toBeUndefined();
    },
  );

  test.each<[string, Partial<Policy>, Partial<Policy>]>([
    ['name', { name: 'one' }, { name: 'two' }],
    ['max', { max: 1 }, { max: 2 }],
    ['window', { windowMs: 400 }, { windowMs: 500 }],
    ['algorithm', { algorithm: 'sliding-window' }, { algorithm: 'fixed-window' }],
    ['burst', { algorithm: 'token-bucket', burst: 2 }, { algorithm: 'token-bucket', burst: 3 }],
  ])(
    `${name}: policies count together unless they differ, such as in %s`,
    async (_, one, other) => {
      const { store } = create();
      const [first, second] = [policyOf(one), policyOf(other)];
      const key = newKey();

      await store.counter(first).hit(key, first.burst);

      const equal = await store.counter({ ...first }).hit(key, 1);
      const separate = await store.counter(second).hit(key, second.burst);
      expect([equal, separate]).toMatchObject([
        { allowed: false },
        { allowed: true, remaining: 0 },
      ]);
    },
  );

  test(`${name}, token-bucket: it refills at max per window, up to burst`, async () => {
    const { store, wait } = create();
    const counter = store.counter(
      policyOf({ algorithm: 'token-bucket', max: 2, windowMs: 1_000, burst: 4 }),
    );
    const key = newKey();

    expect(await counter.hit(key, 4)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await counter.hit(key, 1)).toMatchObject({ allowed: false });
    await wait(600);
    expect(await counter.hit(key, 1)).toMatchObject({ allowed: true, remaining: 0 });
  });
}
