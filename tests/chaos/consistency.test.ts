import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { FAULT_KINDS } from './consistency/faults.ts';
import { BUGS, type Bug, STORES, type Store } from './consistency/system.ts';
import { type RunResult, run } from './consistency/workload.ts';
import { FULL, writeResultsOf } from './results.ts';

const folder = path.resolve(import.meta.dirname, '../../.local/consistency');

/** A run without faults is long enough to find a lost update. */
const OPERATIONS_WITH_BUG = 5_000;
const { operations, faultEvery } = FULL
  ? { operations: 505_000, faultEvery: 2_000 }
  : { operations: 8_000, faultEvery: 800 };

const results = new Map<Store | Bug, RunResult>();

describe('the history of users', () => {
  test.each(STORES)(
    'is linearizable on %s under kills and partitions, and no acknowledged write is lost',
    async (store) => {
      const faults = { every: faultEvery };

      const result = await run({ store, operations, faults, folder });

      const { verdict } = result;
      expect(verdict, verdict.explanation).toMatchObject({ violations: 0, undecided: 0 });
      expect(verdict.operations).toBeGreaterThanOrEqual(operations);
      results.set(store, result);
    },
  );

  test('contains a violation if the service loses updates', async () => {
    const bug = 'lost update';

    const result = await run({ store: 'SQLite', operations: OPERATIONS_WITH_BUG, bug, folder });

    expect(result.verdict.violations).toBeGreaterThan(0);
    results.set(bug, result);
  });

  test('contains a violation if PostgreSQL acknowledges before it writes to disk', async () => {
    const bug = 'early acknowledgement';
    const faults = { every: 1_000, kinds: ['kill PostgreSQL'] } as const;

    const result = await run({ store: 'PostgreSQL', operations: 2_000, bug, faults, folder });

    expect(result.verdict.violations).toBeGreaterThan(0);
    results.set(bug, result);
  });
});

writeResultsOf(STORES.length + BUGS.length, 'consistency', () => {
  const cellOf = (name: Store | Bug, read: (result: RunResult) => number) =>
    read(results.get(name)!).toLocaleString('en');
  const rowOf = (title: string, read: (result: RunResult) => number) => [
    title,
    ...STORES.map((store) => cellOf(store, read)),
  ];
  const runs = markdownTable(
    ['', ...STORES],
    [
      rowOf('Operations', ({ verdict }) => verdict.operations),
      rowOf('of these with unknown outcome', ({ verdict }) => verdict.unknown),
      ...FAULT_KINDS.map((kind) => rowOf(`Faults: ${kind}`, ({ faults }) => faults[kind] ?? 0)),
      rowOf('Histories checked', ({ verdict }) => verdict.groups),
      rowOf('Duration in seconds', ({ seconds }) => Math.round(seconds)),
      rowOf('Violations', ({ verdict }) => verdict.violations),
    ],
  );
  const bugs = markdownTable(
    ['Bug', 'Operations until it is found', 'Violations'],
    BUGS.map((bug) => [
      bug,
      cellOf(bug, ({ verdict }) => verdict.firstViolationAfter),
      cellOf(bug, ({ verdict }) => verdict.violations),
    ]),
  );
  return `Two replicas, 64 concurrent requests.\n\n${runs}\n\nThe same test finds planted bugs:\n\n${bugs}`;
});
