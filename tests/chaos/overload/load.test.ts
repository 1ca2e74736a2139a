import { expect, test } from 'vitest';

import { type LoadResult, OUTCOMES } from './generator.ts';
import { recoveryMs, servedShare, summarize } from './load.ts';

/** A request every 100 ms with these outcomes, each after 5 ms. */
function resultOf(outcomes: readonly (typeof OUTCOMES)[number][]): LoadResult {
  return {
    startedAtMs: 0,
    dueMs: Float64Array.from(outcomes, (_, index) => index * 100),
    latencyMs: new Float64Array(outcomes.length).fill(5),
    kind: new Uint8Array(outcomes.length),
    outcome: Uint8Array.from(outcomes, (outcome) => OUTCOMES.indexOf(outcome)),
    maxLateMs: 0,
  };
}

const times = (count: number, outcome: (typeof OUTCOMES)[number]) =>
  Array.from({ length: count }, () => outcome);

test('a summary counts the requests that were due in a period', () => {
  const result = resultOf([...times(10, 'failed'), ...times(5, 'served'), ...times(5, 'left')]);

  const summary = summarize(result, 1_000, 2_000);

  expect(summary).toEqual({
    offered: 10,
    goodput: 5,
    counts: { left: 5, served: 5, rejected: 0, failed: 0, timedOut: 0 },
    p50Ms: 5,
    p99Ms: 5,
  });
  expect(servedShare(summary)).toBe(1);
});

test('the recovery ends with the last period in which a request was not served', () => {
  const result = resultOf([
    ...times(10, 'rejected'),
    ...times(7, 'served'),
    'rejected',
    ...times(20, 'served'),
  ]);

  expect(recoveryMs(result, 1_000)).toBe(1_000);
  expect(recoveryMs(result, 2_000)).toBe(0);
});

test.each(['left', 'timedOut'] as const)(
  'a system whose requests are all %s has not recovered',
  (outcome) => {
    const result = resultOf(times(20, outcome));

    expect(servedShare(summarize(result, 0, 2_000))).toBe(0);
    expect(recoveryMs(result, 0)).toBe(2_000);
  },
);
