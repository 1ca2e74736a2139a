import { expect, test } from 'vitest';

import { fitSlope } from './slope.ts';

/** A quarter of an hour, with a sample every 5 s. */
const HOURS = Array.from({ length: 180 }, (_, index) => (index * 5) / 3_600);

/** Noise of about 0.3 MB, of which a part of `memory` remains from one sample to the next. */
function noise(seed: number, memory: number): number[] {
  let state = seed;
  let value = 0;
  return HOURS.map(() => {
    state = (state * 48_271) % 2_147_483_647;
    value = memory * value + (1 - memory ** 2) ** 0.5 * (state / 2_147_483_647 - 0.5);
    return value;
  });
}

function samplesOf(perHour: number, noises: readonly number[]) {
  return HOURS.map((hours, index) => ({ hours, value: 50 + perHour * hours + noises[index]! }));
}

test('a line without noise has its slope, without error', () => {
  const { perHour, error } = fitSlope(samplesOf(2, Array(180).fill(0)));

  expect(perHour).toBeCloseTo(2);
  expect(error).toBeCloseTo(0);
});

test.each([0, 0.5, 0.8])(
  'four of five slopes are within two standard errors, if %f of the noise remains',
  (memory) => {
    const slopes = Array.from({ length: 200 }, (_, index) =>
      fitSlope(samplesOf(1, noise(index * 7_919 + 1, memory))),
    );

    const within = slopes.filter(({ perHour, error }) => Math.abs(perHour - 1) < 2 * error);
    expect(within.length).toBeGreaterThan(160);
  },
);

test('the error is larger if the noise remains from sample to sample', () => {
  const independent = fitSlope(samplesOf(0, noise(1, 0)));
  const persistent = fitSlope(samplesOf(0, noise(1, 0.9)));

  expect(persistent.error).toBeGreaterThan(2 * independent.error);
});

test('two samples have no error', () => {
  expect(() => fitSlope(samplesOf(1, noise(1, 0)).slice(0, 2))).toThrow(
    new RangeError('Cannot fit a line to 2 samples: expected at least 3'),
  );
});
