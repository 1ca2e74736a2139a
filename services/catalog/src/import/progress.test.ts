import { expect, test } from 'vitest';

import type { ImportEvent } from './import.ts';
import { count, createProgress, duration } from './progress.ts';

function read(items: number, readBytes: number, sizeBytes: number | undefined): ImportEvent {
  const chunks = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject() }) };
  const source = { chunks, sizeBytes, readBytes: () => readBytes };
  return { kind: 'read', state: { items, refused: 0 }, source };
}

/** What is written for events at these times, in milliseconds. */
function show(events: readonly (readonly [number, ImportEvent])[], isTerminal: boolean): string {
  let written = '';
  let now = 0;
  const progress = createProgress({
    write: (text) => {
      written += text;
    },
    isTerminal,
    nowMs: () => now,
  });
  for (const [at, event] of events) {
    now = at;
    progress.show(event);
  }
  progress.end();
  return written;
}

const EVENTS: readonly (readonly [number, ImportEvent])[] = [
  [0, read(1_000, 10, 100)],
  [50, read(2_000, 20, 100)],
  [10_000, read(51_000, 60, 100)],
  [20_000, { kind: 'build', step: { name: 'order by id', done: 0 } }],
  [24_000, { kind: 'build', step: { name: 'index words', done: 0.5 } }],
  [28_000, { kind: 'build', step: { name: 'done', done: 1 } }],
];

test('a terminal has one line for each phase: a bar, rows, rows per second, and the time left', () => {
  expect(show(EVENTS, true).replaceAll('\r\x1b[K', '\n').split('\n')).toEqual([
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

test('anything else gets a plain line now and then', () => {
  expect(show(EVENTS, false)).toBe(
    `Reading  1,000 rows  10 %
Reading  51,000 rows  5,000 rows/s  60 %  8 s left
Indexing  0 %
Indexing  50 %  4 s left
Indexing  100 %
`,
  );
});

test('of a pipe nobody knows how much is left', () => {
  expect(show([[0, read(1_000, 10, undefined)]], false)).toBe('Reading  1,000 rows\n');
});

test('numbers and times are written for people', () => {
  expect(count(1_234_567.8)).toBe('1,234,568');
  expect(duration(400)).toBe('1 s');
  expect(duration(125_000)).toBe('2 min 5 s');
});
