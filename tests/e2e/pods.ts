import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { isReady, type Pod } from '../../deploy/local/cluster/pod.ts';
import type { World } from './scenario.ts';

type Where = Pick<World, 'cluster' | 'namespace'>;

/** The pods of a service, or of another part of the platform. */
export function podsOf({ cluster, namespace }: Where, part: string): Promise<readonly Pod[]> {
  return cluster.pods(namespace, `app.kubernetes.io/name=${part}`);
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
  await waitFor({ cluster, what: `${count} ready pods of ${part}`, seconds }, async () => {
    const { status } = await cluster.read<{ readonly status: { readonly readyReplicas?: number } }>(
      ...['deployment', `fw-${part}`, '--namespace', namespace],
    );
    return (status.readyReplicas ?? 0) >= count || undefined;
  });
}

/** The total number of restarts of the containers of these pods. */
export function restartsOf(pods: readonly Pod[]): number {
  return pods
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
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

/** Waits until Deployments have replaced their pods. */
export async function waitForRollout({ cluster, namespace }: Where, name: string): Promise<void> {
  await cluster.kubectl([
    ...['rollout', 'status', `deployment/${name}`, '--namespace', namespace],
    ...['--timeout=120s', '--request-timeout=0'],
  ]);
}
