import { type Cluster, waitFor } from '../../deploy/local/cluster/cluster.ts';
import { runProgram } from '../../deploy/local/cluster/program.ts';
import { waitForLostNode, waitForNode } from './nodes.ts';
import type { World } from './scenario.ts';

type Where = Pick<World, 'cluster' | 'namespace' | 'settings' | 'onCleanUp'>;

/**
 * Cuts the power of a node. Returns a function that starts it and waits until the rest of the cluster is as
 * before; the clean-up calls it too.
 */
export async function killNode(where: Where, node: string): Promise<() => Promise<void>> {
  const { cluster, namespace, settings, onCleanUp } = where;
  const before = await readReadyPods(cluster, namespace);
  let isOff = false;
  const start = async (current: Cluster) => {
    // Until the cluster has noticed the loss, it lists the node and its pods as ready.
    if (isOff) await waitForLostNode(current, node);
    await runForNode(current, settings.startNode, node);
    isOff = false;
    await waitForNode(current, node);
    await waitForReadyPods(current, namespace, before);
  };
  onCleanUp(start);
  await runForNode(cluster, settings.killNode, node);
  isOff = true;
  return () => start(cluster);
}

async function runForNode({ signal }: Cluster, command = '', node: string): Promise<void> {
  await runProgram('bash', ['-c', `${command} "$1"`, 'bash', node], { signal });
}

/** A Deployment, StatefulSet or DaemonSet, as far as the tests read it. */
interface Workload {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: { readonly replicas?: number };
  readonly status: {
    readonly readyReplicas?: number;
    readonly numberReady?: number;
    readonly desiredNumberScheduled?: number;
  };
}

/** The numbers of pods of a workload. */
interface PodCounts {
  readonly ready: number;
  readonly desired: number;
}

/** The numbers of pods of the workloads of other namespaces, such as `Deployment gateways/traefik`. */
async function readReadyPods(
  cluster: Cluster,
  ownNamespace: string,
): Promise<ReadonlyMap<string, PodCounts>> {
  const { items } = await cluster.read<{ readonly items: readonly Workload[] }>(
    ...['deployments,statefulsets,daemonsets', '--all-namespaces'],
  );
  return new Map(
    items
      .filter(({ metadata }) => metadata.namespace !== ownNamespace)
      .map(({ kind, metadata, spec, status }) => [
        `${kind} ${metadata.namespace}/${metadata.name}`,
        {
          ready: status.readyReplicas ?? status.numberReady ?? 0,
          desired: spec.replicas ?? status.desiredNumberScheduled ?? 0,
        },
      ]),
  );
}

/** Waits until the workloads of other namespaces have as many ready pods as before. */
async function waitForReadyPods(
  cluster: Cluster,
  ownNamespace: string,
  before: ReadonlyMap<string, PodCounts>,
): Promise<void> {
  const what = 'the pods of other namespaces to be ready again';
  await waitFor({ cluster, what, seconds: 120 }, async () => {
    const current = await readReadyPods(cluster, ownNamespace);
    const missing = [...current].filter(
      // A workload may have been scaled down.
      ([name, { ready, desired }]) => ready < Math.min(before.get(name)?.ready ?? 0, desired),
    );
    if (missing.length > 0) throw new Error(missing.map(([name]) => name).join(', '));
    return true;
  });
}
