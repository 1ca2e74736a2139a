import { type Cluster, createCluster } from '../../deploy/local/cluster/cluster.ts';
import type { Scenario } from './scenario.ts';
import type { Settings } from './settings.ts';
import { createSpace, removeSpace, type Space } from './space.ts';

/** How long it may take to take everything back. */
const CLEANUP_SECONDS = 180;

export interface RunOptions {
  readonly settings: Settings;
  /** The folder of the charts, packed. */
  readonly charts: string;
  /** Ends the run before its time; what was made is removed all the same. */
  readonly until: AbortSignal;
  readonly say: (line: string) => void;
}

/** Tries the scenarios one after another, and gives how many hold; one that cannot be tried does not. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: RunOptions,
): Promise<{ passed: number; failed: number }> {
  let passed = 0;
  for (const scenario of scenarios) {
    if (options.until.aborted) break;
    if (await holds(scenario, options)) passed += 1;
  }
  return { passed, failed: scenarios.length - passed };
}

async function holds(scenario: Scenario, options: RunOptions): Promise<boolean> {
  const { settings, charts, until, say } = options;
  const { name, title, seconds } = scenario;
  const start = Date.now();
  const since = () => `${Math.round((Date.now() - start) / 1000)} s`;
  const cluster = createCluster(AbortSignal.any([until, AbortSignal.timeout(seconds * 1000)]));
  const undo: ((cluster: Cluster) => Promise<void>)[] = [];
  let step = 'beginning';
  let space: Space | undefined;

  say(`---- ${name}: ${title}`);
  try {
    const lack = await scenario.lacks?.({ cluster, settings });
    if (lack) throw new Error(lack);
    const made = await createSpace({ cluster, name });
    space = made;
    undo.push((of) => removeSpace(of, made.name));
    // Without this, a program that does not listen to the signal would hold the run up.
    await Promise.race([
      rejectionOf(cluster.signal),
      scenario.run({
        cluster,
        settings,
        charts,
        space: made,
        say: (next) => {
          step = next;
          say(`     ${since().padStart(6)} ${next}`);
        },
        afterwards: (task) => undo.push(task),
      }),
    ]);
    say(`ok   ${name} (${since()})`);
    return true;
  } catch (error) {
    const late = cluster.signal.aborted && !until.aborted;
    const reason = until.aborted
      ? 'was interrupted'
      : late
        ? `took more than ${seconds} s, while ${step}`
        : error instanceof Error
          ? error.message
          : String(error);
    say(`FAIL ${name} (${since()}, ${step})\n${indent(reason)}`);
    if (space && !until.aborted) await describeDiagnostics(space, say);
    return false;
  } finally {
    await takeBack(undo, say);
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

async function describeDiagnostics(space: Space, say: (line: string) => void): Promise<void> {
  try {
    const troubles = await space.troubles(createCluster(AbortSignal.timeout(30_000)));
    if (troubles) say(indent(troubles));
  } catch {
    // What went wrong is told; that the cluster does not answer either would hide it.
  }
}

async function takeBack(
  undo: readonly ((cluster: Cluster) => Promise<void>)[],
  say: (line: string) => void,
): Promise<void> {
  const cluster = createCluster(AbortSignal.timeout(CLEANUP_SECONDS * 1000));
  for (const task of undo.toReversed()) {
    try {
      await Promise.race([task(cluster), rejectionOf(cluster.signal)]);
    } catch (error) {
      say(indent(`left behind: ${error instanceof Error ? error.message : error}`));
    }
  }
}

function indent(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `     ${line}`)
    .join('\n');
}
