import path from 'node:path';

import { buildChecker, check, type Verdict } from './checker.ts';
import { createClient } from './client.ts';
import { type FaultCounts, type FaultOptions, injectFaults } from './faults.ts';
import { createGroup, type Group } from './group.ts';
import { type SystemOptions, startSystem } from './system.ts';

/** Concurrent groups, of four clients each. */
const GROUPS = 16;

const NO_FAULTS: FaultOptions = { every: Number.POSITIVE_INFINITY };

export interface RunOptions extends SystemOptions {
  /** Ends after this number of operations, and not before every fault was injected. */
  readonly operations: number;
  /** Default: no faults. */
  readonly faults?: FaultOptions;
  /** The folder of the checker, and of the drawing of a violation. */
  readonly folder: string;
}

export interface RunResult {
  readonly verdict: Verdict;
  readonly faults: FaultCounts;
  readonly seconds: number;
}

/**
 * Runs clients on a new system while faults occur, reads all acknowledged writes back after the last fault, and
 * checks the history.
 */
export async function run(options: RunOptions): Promise<RunResult> {
  const { operations, faults = NO_FAULTS, folder } = options;
  const checker = buildChecker(folder);
  const system = await startSystem(options);
  const client = createClient(system.origin);
  const progress = { operations: 0, rounds: 0, isOver: false };
  const groups: Group[] = [];
  const startedMs = performance.now();
  const counts = injectFaults(system, client, { ...faults, progress }).finally(() => {
    progress.isOver = true;
  });

  async function runGroups(): Promise<void> {
    const rounds = faults === NO_FAULTS ? 0 : 1;
    while ((progress.operations < operations || progress.rounds < rounds) && !progress.isOver) {
      const group = createGroup(crypto.randomUUID(), client);
      await group.run();
      groups.push(group);
      progress.operations += group.operations.length;
    }
  }

  try {
    await concurrently(runGroups);
    progress.isOver = true;
    const faultCounts = await counts;
    const remaining = groups.values();
    await concurrently(async () => {
      for (const group of remaining) await group.readBack();
    });
    const seconds = (performance.now() - startedMs) / 1_000;
    const drawing = path.join(folder, `${options.bug ?? options.store}.html`);
    return { faults: faultCounts, verdict: await check(checker, groups, drawing), seconds };
  } finally {
    progress.isOver = true;
    await counts.catch(() => {});
    client.close();
    await system.stop();
  }
}

async function concurrently(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: GROUPS }, work));
}
