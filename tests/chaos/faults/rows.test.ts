import { expect, test } from 'vitest';

import type { Expectation } from './expected.ts';
import type { Measurement, Seen } from './measure.ts';
import { findBroken } from './rows.ts';

const OK: Seen = { outcomes: ['ok'], medianMs: 5, maxMs: 10 };

/** A measurement without any consequence, with `changes`. */
function measured(changes: Partial<Measurement> = {}): Measurement {
  const seen = {
    'read users': OK,
    'create user': OK,
    catalog: OK,
    'list reports': OK,
    report: OK,
  };
  return { seen, notReady: [], notLive: [], isLimitExact: true, recoveryMs: 0, ...changes };
}

const EXPECTED: Expectation = { part: 'users', faults: ['killed'] };

test('a fault without consequences keeps the promise that there are none', () => {
  expect(findBroken(EXPECTED, measured())).toEqual([]);
});

test('no response during the fault breaks every promise', () => {
  const catalog: Seen = { outcomes: [], medianMs: 0, maxMs: 0 };
  const { seen } = measured();

  expect(findBroken(EXPECTED, measured({ seen: { ...seen, catalog } }))).toEqual([
    'catalog: expected ok within 1 s, measured no response during the fault',
  ]);
});

test('only services other than the failing one have to be ready', () => {
  const notReady = ['users-1', 'users-2', 'catalog-1'];

  expect(findBroken(EXPECTED, measured({ notReady }))).toEqual([
    'others not ready: expected none, measured catalog',
  ]);
});
