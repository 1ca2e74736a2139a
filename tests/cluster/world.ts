import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, onTestFailed } from 'vitest';

import { type Cluster, createCluster } from '../../deploy/local/cluster/cluster.ts';
import { describeDiagnostics } from '../../deploy/local/cluster/diagnostics.ts';
import { plainError } from '../plain-error.ts';
import { readSettings, type Settings } from './settings.ts';

/** The limit of the clean-up after a file. */
const CLEANUP_SECONDS = 180;

/** What the tests of a file share. */
export interface World {
  readonly cluster: Cluster;
  readonly settings: Settings;
  /** A namespace that enforces Pod Security `restricted`, removed after the last test. */
  readonly namespace: string;
  /** Prints a step, with the time since the start of the test. */
  log(step: string): void;
  /** Registers a clean-up task, run after the last test in reverse order. */
  onCleanUp(task: (cluster: Cluster) => Promise<void>): void;
}

/**
 * Creates a namespace before the tests of this file, and removes it after them. The tests use one installation:
 * if one fails, the following ones are skipped.
 *
 * @param missing returns an error message if the cluster or the settings are not sufficient
 */
export function createWorld(
  name: string,
  missing: (world: World) => Promise<string | undefined> | string | undefined = () => undefined,
): World {
  const stopped = new AbortController();
  const cleanUps: ((cluster: Cluster) => Promise<void>)[] = [];
  let startedMs = Date.now();
  let failed: string | undefined;
  const world: World = {
    cluster: createCluster(stopped.signal),
    settings: readSettings(process.env),
    namespace: newName(name),
    log(step) {
      const elapsed = `${Math.round((Date.now() - startedMs) / 1000)} s`;
      console.log(`     ${elapsed.padStart(6)} ${step}`);
    },
    onCleanUp: (task) => cleanUps.push(task),
  };

  beforeAll(async () => {
    const message = await missing(world);
    if (message) throw plainError(message);
    cleanUps.push((cluster) => removeNamespace(cluster, world.namespace));
    await createNamespace(world.cluster, world.namespace);
  });
  beforeEach(({ task, signal, skip }) => {
    if (failed) skip(`it needs the result of "${failed}"`);
    startedMs = Date.now();
    console.log(`---- ${name}: ${task.name}`);
    // A time-out, or Ctrl-C.
    signal.addEventListener('abort', () => stopped.abort(signal.reason), { once: true });
    onTestFailed(async () => {
      failed = task.name;
      const cluster = createCluster(AbortSignal.timeout(30_000));
      console.log(await describeDiagnostics(cluster, world.namespace).catch(String));
    });
  });
  afterAll(() => runAll(cleanUps), CLEANUP_SECONDS * 1000 + 5_000);
  return world;
}

/** A name for a namespace: `fw-e2e-platform-1a2b3c`. */
export function newName(name: string): string {
  return `fw-e2e-${name}-${randomBytes(3).toString('hex')}`;
}

/** Creates a namespace that enforces a Pod Security standard. */
export async function createNamespace(
  cluster: Cluster,
  name: string,
  podSecurity: 'restricted' | 'privileged' = 'restricted',
): Promise<void> {
  const labels = { 'fw-e2e': 'true', 'pod-security.kubernetes.io/enforce': podSecurity };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

/** Removes a namespace and everything in it, without waiting for the grace period of its pods. */
export async function removeNamespace(cluster: Cluster, name: string): Promise<void> {
  await cluster.kubectl(['delete', 'namespace', name, '--ignore-not-found', '--wait=false']);
  // A namespace that is being deleted gets no new pods.
  await cluster.kubectl([
    ...['delete', 'pods', '--all', '--namespace', name, '--grace-period=1', '--wait=false'],
  ]);
  await cluster.kubectl([
    ...['wait', '--for=delete', `namespace/${name}`, '--timeout=120s', '--request-timeout=0'],
  ]);
}

/** Runs every clean-up task, last first. A failed task is printed and does not stop the others. */
async function runAll(tasks: readonly ((cluster: Cluster) => Promise<void>)[]): Promise<void> {
  const cluster = createCluster(AbortSignal.timeout(CLEANUP_SECONDS * 1000));
  for (const task of tasks.toReversed()) {
    await task(cluster).catch((error: Error) =>
      console.log(`     clean-up failed: ${error.message}`),
    );
  }
}
