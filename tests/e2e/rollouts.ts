import { type Cluster, waitFor } from '../../deploy/local/cluster/cluster.ts';
import { isReady, type Pod } from '../../deploy/local/cluster/pod.ts';

/** The services of the platform. */
export const SERVICES = ['users', 'catalog', 'reports'] as const;

interface Where {
  readonly cluster: Cluster;
  readonly namespace: string;
}

/** The pods of a service, or of another part of the platform. */
export function podsOf({ cluster, namespace }: Where, part: string): Promise<readonly Pod[]> {
  return cluster.pods(namespace, `app.kubernetes.io/name=${part}`);
}

/** Waits until `count` pods of a part take requests and no other is there. */
export async function waitForPods(
  where: Where,
  {
    part,
    count,
    seconds = 90,
  }: { readonly part: string; readonly count: number; readonly seconds?: number },
): Promise<void> {
  const what = `${count} pods of ${part} that take requests`;
  await waitFor({ cluster: where.cluster, what, seconds }, async () => {
    const pods = await podsOf(where, part);
    return (pods.length === count && pods.every(isReady)) || undefined;
  });
}

/** How many times containers of these pods were started anew, in all. */
export function restartsOf(pods: readonly Pod[]): number {
  return pods
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
}
