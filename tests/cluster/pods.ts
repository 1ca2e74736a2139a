import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { isReady, type Pod, restartsOf } from '../../deploy/local/cluster/pod.ts';
import type { World } from './world.ts';

type Where = Pick<World, 'cluster' | 'namespace'>;

/** The pods of a service, or of another part of the platform, without those of completed trials. */
export async function podsOf({ cluster, namespace }: Where, part: string): Promise<readonly Pod[]> {
  const pods = await cluster.pods(namespace, `app.kubernetes.io/name=${part}`);
  return pods.filter(({ status }) => status.phase !== 'Succeeded');
}

/** Waits until a part has exactly `count` pods and all are ready. */
export async function waitForPods(
  where: Where,
  { part, count, seconds = 90 }: { part: string; count: number; seconds?: number },
): Promise<void> {
  const what = `${count} ready pods of ${part}`;
  await waitFor({ cluster: where.cluster, what, seconds }, async () => {
    const pods = await podsOf(where, part);
    return (pods.length === count && pods.every(isReady)) || undefined;
  });
}

/** Waits until a Deployment has `count` ready pods; those of a dead node may still be listed. */
export async function waitForReplicas(
  { cluster, namespace }: Where,
  { part, count, seconds }: { part: string; count: number; seconds: number },
): Promise<void> {
  const path = ['deployment', `fw-${part}`, '--namespace', namespace];
  await waitFor({ cluster, what: `${count} ready pods of ${part}`, seconds }, async () => {
    const { status } = await cluster.read<{ status: { readyReplicas?: number } }>(...path);
    return (status.readyReplicas ?? 0) >= count || undefined;
  });
}

/** Asserts that no container of these parts was restarted. */
export async function assertNoRestart(where: Where, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    const restarts = (await podsOf(where, part)).map(restartsOf);
    assert.ok(
      restarts.every((count) => count === 0),
      `${part} was restarted`,
    );
  }
}

/** Scales a Deployment or StatefulSet such as `statefulset/fw-postgres`. */
export async function scale({ cluster, namespace }: Where, workload: string, replicas: number) {
  await cluster.kubectl(['scale', workload, `--replicas=${replicas}`, '--namespace', namespace]);
}

/** Deletes the pods of a part without a grace period, as if their node had lost power. */
export async function killPods({ cluster, namespace }: Where, part: string): Promise<void> {
  await cluster.kubectl([
    ...['delete', 'pods', '--selector', `app.kubernetes.io/name=${part}`],
    ...['--namespace', namespace, '--force', '--grace-period=0', '--request-timeout=0'],
  ]);
}

/** Deletes a pod with its grace period, and waits until it has ended. */
export async function deletePod({ cluster, namespace }: Where, name: string): Promise<void> {
  await cluster.kubectl([
    ...['delete', 'pod', name, '--namespace', namespace, '--request-timeout=0'],
  ]);
}

/** Restarts Deployments such as `fw-edge` one after another. */
export async function restart(
  { cluster, namespace, log }: Pick<World, 'cluster' | 'namespace' | 'log'>,
  deployments: readonly string[],
): Promise<void> {
  for (const name of deployments) {
    log(`restarting ${name}`);
    const where = [`deployment/${name}`, '--namespace', namespace];
    await cluster.kubectl(['rollout', 'restart', ...where]);
    const limits = ['--timeout=120s', '--request-timeout=0'];
    await cluster.kubectl(['rollout', 'status', ...where, ...limits]);
  }
}

/** The log lines of all pods of a part that match. */
export async function logLines(
  { cluster, namespace }: Where,
  part: string,
  matching: RegExp,
): Promise<string[]> {
  const log = await cluster.kubectl([
    ...['logs', `--selector=app.kubernetes.io/name=${part}`, '--namespace', namespace],
    ...['--tail=-1', '--prefix'],
  ]);
  return log.split('\n').filter((line) => matching.test(line));
}

/** The platform is idle after this number of consecutive responses within this time. */
const IDLE = { responses: 5, withinMs: 100 };
const IDLE_LIMIT_MS = 20_000;

/**
 * Waits until queued requests are done, so that a change does not test the capacity of the nodes.
 * Returns after at most 20 s.
 */
export async function waitForIdle({ cluster: { signal } }: Where, base: string): Promise<void> {
  const startedMs = performance.now();
  let quick = 0;
  while (quick < IDLE.responses && performance.now() - startedMs < IDLE_LIMIT_MS) {
    const sentMs = performance.now();
    const response = await fetch(`${base}/api/v2/users?limit=1`, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    signal.throwIfAborted();
    quick = performance.now() - sentMs < IDLE.withinMs ? quick + 1 : 0;
    await sleep(50, undefined, { signal });
  }
}
