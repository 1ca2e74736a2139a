import { expect, test } from 'vitest';

import { createProgress } from './progress.ts';

/** A progress whose output is collected, and a clock that the test sets. */
function newProgress(terminal?: { readonly columns: number }) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const write = (text: string) => written.push(text);
  const output = { ...(terminal && { isTTY: true, ...terminal }), write };
  return { written, clock, ...createProgress(output, () => clock.ms) };
}

test('a terminal shows one status line, which the next line replaces', () => {
  const { written, log, status } = newProgress({ columns: 20 });

  status('users (0 of 2)');
  status('users (0 of 2)');
  status('users (1 of 2), catalog (0 of 2)');
  log('users ready');

  expect(written).toEqual([
    '\r\x1b[Kusers (0 of 2)',
    '\r\x1b[Kusers (1 of 2), cat',
    '\r\x1b[Kusers ready\n',
  ]);
});

test('a file contains a status line only if it changed and 15 s passed since the last line', () => {
  const { written, clock, log, status } = newProgress();

  status('users (0 of 2)');
  clock.ms = 15_000;
  status('users (0 of 2)');
  clock.ms = 20_000;
  status('users (1 of 2)');
  clock.ms = 30_000;
  status('users (1 of 2)');
  clock.ms = 60_000;
  status('users (1 of 2)');
  status('');
  log('users ready');

  expect(written).toEqual(['users (0 of 2)\n', 'users (1 of 2)\n', 'users ready\n']);
});
