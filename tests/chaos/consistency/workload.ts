import path from 'node:path';

import { startChecker, type Verdict } from './checker.ts';
import { createClient } from './client.ts';
import { type FaultCounts, injectFaults } from './faults.ts';
import { runGroup } from './group.ts';
import type { Bug } from './planted-bugs.ts';
import { type Store, startSystem } from './system.ts';

/** Concurrent groups, of four clients each. */
const GROUPS = 16;

export interface RunOptions {
  readonly store: Store;
  /** Ends after this number of operations, and not before every fault was injected. */
  readonly operations: number;
  /** Number of operations between two faults. Default: no faults. */
  readonly faultEvery?: number;
  readonly bug?: Bug;
  /** The folder of the checker, and of the drawing of a violation. */
  readonly folder: string;
  /** Receives the number of operations after each group. */
  readonly onProgress?: (operations: number) => void;
}

export interface RunResult {
  readonly verdict: Verdict;
  readonly faults: FaultCounts;
  readonly seconds: number;
}

/** Runs clients on a new system while faults occur, and checks the history. */
export async function run({
  store,
  operations,
  faultEvery,
  bug,
  folder,
  onProgress,
}: RunOptions): Promise<RunResult> {
  const system = await startSystem(store, bug);
  const client = createClient(system.origin);
  const checker = startChecker(folder, path.join(folder, `${bug ?? store}.html`));
  const rounds = faultEvery === undefined ? 0 : 1;
  const progress = { operations: 0, rounds: 0, isOver: false };
  const every = faultEvery ?? Number.POSITIVE_INFINITY;
  const faults = injectFaults(system, client, { every, progress });
  const faultsEnded = Promise.allSettled([faults]).then(() => {
    progress.isOver = true;
  });
  const startedMs = performance.now();

  async function runGroups(): Promise<void> {
    while ((progress.operations < operations || progress.rounds < rounds) && !progress.isOver) {
      const group = await runGroup(crypto.randomUUID(), client);
      progress.operations += group.operations.length;
      onProgress?.(progress.operations);
      await checker.check(group);
    }
  }

  try {
    await Promise.all(Array.from({ length: GROUPS }, runGroups));
    const seconds = (performance.now() - startedMs) / 1_000;
    progress.isOver = true;
    return { faults: await faults, verdict: await checker.end(), seconds };
  } finally {
    progress.isOver = true;
    await faultsEnded;
    client.close();
    await system.stop();
  }
}
