import { expect, test } from 'vitest';

import { createBreaker } from './breaker.ts';

/** A breaker that two failures open for ten milliseconds of a clock that the test turns. */
function newBreaker() {
  const clock = { ms: 0 };
  const breaker = createBreaker({ failures: 2, openMs: 10, now: () => clock.ms });
  const fail = () => breaker.admit()?.('failure');
  return { breaker, clock, fail };
}

test('a breaker admits everything until as many failures as it is told come in a row', () => {
  const { breaker, fail } = newBreaker();

  fail();
  breaker.admit()?.('success');
  fail();
  const before = breaker.admit();
  fail();

  expect(before).toBeDefined();
  expect(breaker.admit()).toBeUndefined();
});

test('an open breaker admits one trial after a while, which closes it', () => {
  const { breaker, clock, fail } = newBreaker();
  fail();
  fail();
  clock.ms = 10;

  const trial = breaker.admit();
  const meanwhile = breaker.admit();
  trial?.('success');

  expect(trial).toBeDefined();
  expect(meanwhile).toBeUndefined();
  fail();
  expect(breaker.admit()).toBeDefined();
});

test('a trial that fails keeps the breaker open for as long again', () => {
  const { breaker, clock, fail } = newBreaker();
  fail();
  fail();
  clock.ms = 10;

  fail();

  expect(breaker.admit()).toBeUndefined();
  clock.ms = 20;
  expect(breaker.admit()).toBeDefined();
});

test('a trial that is called off leaves the next one a trial', () => {
  const { breaker, clock, fail } = newBreaker();
  fail();
  fail();
  clock.ms = 10;

  breaker.admit()?.('called off');
  const next = breaker.admit();

  expect(next).toBeDefined();
  expect(breaker.admit()).toBeUndefined();
});

test('what was under way when a breaker opened says nothing more', () => {
  const { breaker, clock, fail } = newBreaker();
  const slow = breaker.admit();
  const late = breaker.admit();
  fail();
  fail();

  slow?.('success');
  clock.ms = 5;
  late?.('failure');

  expect(breaker.admit()).toBeUndefined();
  clock.ms = 10;
  expect(breaker.admit()).toBeDefined();
});
