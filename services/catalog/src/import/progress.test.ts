import { expect, test } from 'vitest';

import type { ImportProgress } from './import.ts';
import { count, createProgress, duration } from './progress.ts';

test('progress is a line every few seconds, and at the start and end of a phase', () => {
  const reading = { phase: 'Reading' } as const;
  const indexing = { phase: 'Indexing', rows: 51_000 } as const;
  const states: readonly (readonly [number, ImportProgress])[] = [
    [0, { ...reading, rows: 1_000, done: 0.1 }],
    [50, { ...reading, rows: 2_000, done: 0.2 }],
    [10_000, { ...reading, rows: 51_000, done: 0.6 }],
    [20_000, { ...indexing, done: 0 }],
    [24_000, { ...indexing, done: 0.5 }],
    [24_001, { ...indexing, done: 1 }],
  ];
  let written = '';
  let now = 0;
  const show = createProgress(
    (text) => {
      written += text;
    },
    () => now,
  );

  for (const [at, state] of states) {
    now = at;
    show(state);
  }

  expect(written).toBe(
    `Reading  1,000 rows  10 %
Reading  51,000 rows  5,000 rows/s  60 %  8 s left
Indexing  0 %
Indexing  50 %  4 s left
Indexing  100 %
`,
  );
});

test('the progress of a pipe has no percentage', () => {
  let written = '';
  const show = createProgress((text) => {
    written += text;
  });

  show({ phase: 'Reading', rows: 1_000, done: undefined });

  expect(written).toBe('Reading  1,000 rows\n');
});

test('numbers and times are easy to read', () => {
  expect(count(1_234_567.8)).toBe('1,234,568');
  expect(duration(400)).toBe('1 s');
  expect(duration(125_000)).toBe('2 min 5 s');
});
