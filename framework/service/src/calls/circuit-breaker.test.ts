import { expect, test } from 'vitest';

import { createBreaker } from './circuit-breaker.ts';

/** A breaker that two failures open, with trials every ten milliseconds of a clock that the test sets. */
function newBreaker() {
  const clock = { ms: 0 };
  const breaker = createBreaker({ failures: 2, openMs: 10, now: () => clock.ms });
  const open = () => {
    breaker.failed();
    breaker.failed();
  };
  return { breaker, clock, open };
}

test('a breaker opens after as many failures in a row as configured', () => {
  const { breaker } = newBreaker();

  breaker.failed();
  breaker.succeeded();
  breaker.failed();
  const afterOne = breaker.allowsCall();
  breaker.failed();

  expect(afterOne).toBe(true);
  expect(breaker.allowsCall()).toBe(false);
});

test('an open breaker allows one trial at a time, and a successful one closes it', () => {
  const { breaker, clock, open } = newBreaker();
  open();

  clock.ms = 9;
  const early = breaker.allowsCall();
  clock.ms = 10;
  const trial = breaker.allowsCall();
  const second = breaker.allowsCall();
  breaker.succeeded();

  expect([early, trial, second]).toEqual([false, true, false]);
  expect(breaker.allowsCall()).toBe(true);
});

test('a trial that fails keeps the breaker open until the next trial', () => {
  const { breaker, clock, open } = newBreaker();
  open();

  clock.ms = 10;
  breaker.allowsCall();
  breaker.failed();
  const between = breaker.allowsCall();
  clock.ms = 20;

  expect(between).toBe(false);
  expect(breaker.allowsCall()).toBe(true);
  expect(breaker.allowsCall()).toBe(false);
});

test('a trial without outcome does not prevent the next one', () => {
  const { breaker, clock, open } = newBreaker();
  open();

  clock.ms = 10;
  breaker.allowsCall();
  clock.ms = 20;

  expect(breaker.allowsCall()).toBe(true);
});

test('calls that fail after the breaker has opened do not delay the trial', () => {
  const { breaker, clock, open } = newBreaker();
  open();

  clock.ms = 5;
  breaker.failed();
  clock.ms = 10;

  expect(breaker.allowsCall()).toBe(true);
});
