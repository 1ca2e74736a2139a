import fc from 'fast-check';
import { expect, test } from 'vitest';

import { jsonTime } from './json-time.ts';

test('jsonTime gives what toISOString gives, for every time there is', () => {
  const anyTime = fc.oneof(
    fc.date({ noInvalidDate: true }),
    fc.date({
      noInvalidDate: true,
      min: new Date('2026-11-01T00:00:00Z'),
      max: new Date('2026-11-30T00:00:00Z'),
    }),
  );

  fc.assert(
    fc.property(anyTime, (time) => jsonTime(time) === time.toISOString()),
    { numRuns: 3_000 },
  );
});

test.each([0, 86_399_999, 86_400_000, -1, Date.UTC(10_000) - 1, Date.UTC(10_000), 8.64e15])(
  'jsonTime gives what toISOString gives, at %d ms too',
  (timeMs) => {
    const time = new Date(timeMs);

    expect(jsonTime(time)).toBe(time.toISOString());
  },
);

test('jsonTime refuses an invalid time', () => {
  expect(() => jsonTime(new Date(Number.NaN))).toThrow(RangeError);
});
