import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { BUGS, type Bug } from './consistency/planted-bugs.ts';
import { renderReport } from './consistency/report.ts';
import { STORES, type Store } from './consistency/system.ts';
import { type RunResult, run } from './consistency/workload.ts';
import { FULL, writeResultsOf } from './results.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FOLDER = path.join(ROOT, '.local/consistency');
const PROGRESS_EVERY_MS = 10_000;

/** A run without faults is long enough to find each planted bug. */
const OPERATIONS_WITH_BUG = 5_000;
const { operations, faultEvery } = FULL
  ? { operations: 505_000, faultEvery: 7_000 }
  : { operations: 8_000, faultEvery: 800 };

const results = new Map<Store | Bug, RunResult>();

describe('the history of users', () => {
  test.each(STORES)('is linearizable on %s under kills and partitions', async (store) => {
    const result = await run({
      store,
      operations,
      faultEvery,
      folder: FOLDER,
      onProgress: progressOf(store),
    });

    const { verdict, faults } = result;
    expect(verdict, verdict.explanation).toMatchObject({ violations: 0, undecided: 0 });
    expect(verdict.operations).toBeGreaterThanOrEqual(operations);
    expect(Math.min(faults.kill, faults.partition, faults.reset)).toBeGreaterThan(0);
    results.set(store, result);
  });

  test.each(BUGS)('contains a violation if the store has the bug "%s"', async (bug) => {
    const result = await run({
      store: 'SQLite',
      operations: OPERATIONS_WITH_BUG,
      bug,
      folder: FOLDER,
    });

    expect(result.verdict.violations).toBeGreaterThan(0);
    results.set(bug, result);
  });
});

writeResultsOf(STORES.length + BUGS.length, 'consistency', () =>
  renderReport(results, STORES, BUGS),
);

/** Prints a line every ten seconds in the full form. */
function progressOf(store: Store): (done: number) => void {
  const startedMs = performance.now();
  let printedMs = startedMs;
  return (done) => {
    const nowMs = performance.now();
    if (!FULL || nowMs - printedMs < PROGRESS_EVERY_MS) return;
    printedMs = nowMs;
    const rate = Math.round(done / ((nowMs - startedMs) / 1_000));
    console.log(`${store}: ${done} of ${operations} operations, ${rate} per second`);
  };
}
