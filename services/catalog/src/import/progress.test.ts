import { expect, test } from 'vitest';

import type { ImportProgress } from './import.ts';
import { count, createProgress, duration } from './progress.ts';

function reading(rows: number, done: number | undefined): ImportProgress {
  return { phase: 'Reading', rows, done };
}

function indexing(done: number): ImportProgress {
  return { phase: 'Indexing', rows: 51_000, done };
}

/** The output for these states at these times, in milliseconds. */
function show(states: readonly (readonly [number, ImportProgress])[], isTerminal: boolean): string {
  let written = '';
  let now = 0;
  const progress = createProgress({
    write: (text) => {
      written += text;
    },
    isTerminal,
    nowMs: () => now,
  });
  for (const [at, state] of states) {
    now = at;
    progress.show(state);
  }
  progress.end();
  return written;
}

const STATES: readonly (readonly [number, ImportProgress])[] = [
  [0, reading(1_000, 0.1)],
  [50, reading(2_000, 0.2)],
  [10_000, reading(51_000, 0.6)],
  [20_000, indexing(0)],
  [24_000, indexing(0.5)],
  [28_000, indexing(1)],
];

test('a terminal shows one line per phase: a bar, rows, rows per second and the remaining time', () => {
  expect(show(STATES, true).replaceAll('\r\x1b[K', '\n').split('\n')).toEqual([
    '',
    'Reading  [##......................]  1,000 rows  10 %',
    'Reading  [##############..........]  51,000 rows  5,000 rows/s  60 %  8 s left',
    '',
    'Indexing  [........................]  0 %',
    'Indexing  [############............]  50 %  4 s left',
    'Indexing  [########################]  100 %',
    '',
  ]);
});

test('other output gets a plain line every few seconds', () => {
  expect(show(STATES, false)).toBe(
    `Reading  1,000 rows  10 %
Reading  51,000 rows  5,000 rows/s  60 %  8 s left
Indexing  0 %
Indexing  50 %  4 s left
Indexing  100 %
`,
  );
});

test('the progress of a pipe has no percentage', () => {
  expect(show([[0, reading(1_000, undefined)]], false)).toBe('Reading  1,000 rows\n');
});

test('numbers and times are easy to read', () => {
  expect(count(1_234_567.8)).toBe('1,234,568');
  expect(duration(400)).toBe('1 s');
  expect(duration(125_000)).toBe('2 min 5 s');
});
