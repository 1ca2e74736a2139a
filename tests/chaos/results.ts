import path from 'node:path';

import { afterAll, afterEach } from 'vitest';

import { describeMachine } from '../../deploy/local/testing/machine.ts';
import { writeSection } from '../../deploy/local/testing/markdown.ts';

const DOCUMENT = path.resolve(import.meta.dirname, '../../docs/operations/failures.md');

/** Whether the full form of the tests runs. */
export const FULL = Boolean(process.env.FULL);

/** Writes the results of a full form, with the machine, to a section of docs/operations/failures.md. */
export function writeResults(section: string, results: string): void {
  if (FULL) writeSection(DOCUMENT, section, `${describeMachine()}\n\n${results}`);
}

/**
 * Writes the results after the `tests` tests of a file, if all of them have passed.
 *
 * @param tests the number of tests in the file: a skipped test prevents writing
 * @param render returns undefined if the results are incomplete: then nothing is written
 */
export function writeResultsOf(
  tests: number,
  section: string,
  render: () => string | undefined,
): void {
  let passed = 0;
  afterEach(({ task }) => {
    if (task.result?.state === 'pass') passed++;
  });
  afterAll(() => {
    const results = passed === tests ? render() : undefined;
    if (results) writeResults(section, results);
  });
}
