import { test } from 'vitest';

import { type Cluster, createCluster } from '../../deploy/local/cluster/cluster.ts';
import { describeDiagnostics } from '../../deploy/local/cluster/diagnostics.ts';
import { plainError } from '../plain-error.ts';
import { createNamespace, removeNamespace } from './namespace.ts';
import { readSettings, type Settings } from './settings.ts';

/** The limit of the clean-up after a scenario. */
const CLEANUP_SECONDS = 180;

/** The environment of a scenario. */
export interface World {
  readonly cluster: Cluster;
  readonly settings: Settings;
  /** A namespace that enforces Pod Security `restricted`, removed after the scenario. */
  readonly namespace: string;
  /** Prints the current step; a time-out names it. */
  log(step: string): void;
  /** Registers a clean-up task, run after the scenario in reverse order. */
  onCleanUp(task: (cluster: Cluster) => Promise<void>): void;
}

/** A test of the charts on a real cluster. */
export interface Scenario {
  /** The name of its file: `make e2e ONLY=name`. */
  readonly name: string;
  readonly title: string;
  /** Time limit of the scenario without its clean-up. */
  readonly seconds: number;
  /** Returns an error message if cluster or settings are not sufficient; the scenario then fails without starting. */
  missing?(world: Pick<World, 'cluster' | 'settings'>): Promise<string | undefined>;
  run(world: World): Promise<void>;
}

/** Registers a scenario as a test with its own namespace; if it fails, prints diagnostics. */
export function scenario({ name, title, seconds, missing, run }: Scenario): void {
  // Longer than the limit below, whose error names the step.
  const timeout = (seconds + 60) * 1000;
  test(`${name}: ${title}`, { timeout }, async ({ signal, onTestFinished }) => {
    const startedMs = Date.now();
    const cleanUps: ((cluster: Cluster) => Promise<void>)[] = [];
    onTestFinished(() => runAll(cleanUps), CLEANUP_SECONDS * 1000 + 5_000);
    const limit = AbortSignal.timeout(seconds * 1000);
    const cluster = createCluster(AbortSignal.any([signal, limit]));
    const settings = readSettings(process.env);
    let step = 'starting';
    console.log(`---- ${name}: ${title}`);

    const message = await missing?.({ cluster, settings });
    if (message) throw plainError(message);
    const namespace = await createNamespace(cluster, { name });
    cleanUps.push((current) => removeNamespace(current, namespace));
    const world: World = {
      cluster,
      settings,
      namespace,
      log(next) {
        step = next;
        const elapsed = `${Math.round((Date.now() - startedMs) / 1000)} s`;
        console.log(`     ${elapsed.padStart(6)} ${step}`);
      },
      onCleanUp: (task) => cleanUps.push(task),
    };
    try {
      // Does not wait for programs that ignore the signal.
      await Promise.race([run(world), rejectionOf(cluster.signal)]);
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = limit.aborted ? `took more than ${seconds} s` : (error as Error).message;
      const diagnostics = await diagnosticsOf(namespace);
      throw plainError(`${step}: ${reason}\n${diagnostics}`.trim());
    }
  });
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** The unhealthy pods; empty if the cluster does not respond, so that the first error is reported. */
function diagnosticsOf(namespace: string): Promise<string> {
  const cluster = createCluster(AbortSignal.timeout(30_000));
  return describeDiagnostics(cluster, namespace).catch(() => '');
}

/** Runs every clean-up task, last first. A failed task is printed and does not stop the others. */
async function runAll(tasks: readonly ((cluster: Cluster) => Promise<void>)[]): Promise<void> {
  const cluster = createCluster(AbortSignal.timeout(CLEANUP_SECONDS * 1000));
  for (const task of tasks.toReversed()) {
    await Promise.race([task(cluster), rejectionOf(cluster.signal)]).catch((error: Error) =>
      console.log(`     clean-up failed: ${error.message}`),
    );
  }
}
