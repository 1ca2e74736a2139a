import { type Cluster, isUsable, waitFor } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import { lacksSecondNode, pickNodes } from './platform.ts';
import type { World } from './scenario.ts';

/** The label that the pods of a run carry while they are evicted. */
const LABEL = 'fw-e2e';

/**
 * Cordons a node and evicts the pods of the run's own namespace from it, as before maintenance. No pod
 * of another namespace is evicted.
 *
 * @throws {Error} naming the pods of others on the node, unless `E2E_ALLOW_NODES` is set
 */
export async function drain(
  { cluster, settings, space }: Pick<World, 'cluster' | 'settings' | 'space'>,
  node: string,
  seconds = 150,
): Promise<void> {
  const lack = settings.allowNodes ? undefined : await othersOn(cluster, node, space.name);
  if (lack) throw new Error(lack);
  await cluster.kubectl(['cordon', node]);
  // A selector is all that limits what kubectl drains, and only a label of this run is unmistakable.
  await cluster.kubectl([
    ...['label', 'pods', '--namespace', space.name, `--field-selector=spec.nodeName=${node}`],
    ...['--overwrite', `${LABEL}=${space.name}`],
  ]);
  await cluster.kubectl([
    ...['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--request-timeout=0'],
    ...['--pod-selector', `${LABEL}=${space.name}`, `--timeout=${seconds}s`],
  ]);
}

/** Lets the scheduler place pods on a node again. */
export async function uncordon(cluster: Cluster, node: string): Promise<void> {
  await cluster.kubectl(['uncordon', node]);
}

/**
 * What a scenario lacks that takes a node away: a second node, or one without workloads of others. With
 * `E2E_ALLOW_NODES`, other workloads do not matter.
 */
export async function lacksSpareNode({
  cluster,
  settings,
}: Pick<World, 'cluster' | 'settings'>): Promise<string | undefined> {
  const nodes = await pickNodes(cluster);
  if (!nodes) return lacksSecondNode({ cluster });
  return settings.allowNodes ? undefined : othersOn(cluster, nodes.goes.metadata.name);
}

/** How many pods of others a message names. */
const NAMED = 10;

/** A sentence that names the pods of others on a node; nothing where there are none. */
async function othersOn(
  cluster: Cluster,
  node: string,
  ownNamespace?: string,
): Promise<string | undefined> {
  const pods = (await cluster.podsOn(node))
    .filter((pod) => pod.metadata.namespace !== ownNamespace && isWorkload(pod))
    .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
    .sort();
  if (pods.length === 0) return undefined;
  const more = pods.length > NAMED ? ` and ${pods.length - NAMED} more` : '';
  const names = pods.slice(0, NAMED).join(', ') + more;
  return `other workloads run on the node ${node}: ${names}; set E2E_ALLOW_NODES=1 if it may take no pods for some minutes`;
}

/** Whether a pod is a workload: not finished, and part of neither the cluster nor its node. */
function isWorkload({ metadata, status }: Pod): boolean {
  const isOver = status.phase === 'Succeeded' || status.phase === 'Failed';
  const isOfNode = metadata.ownerReferences?.some(({ kind }) => /^(DaemonSet|Node)$/.test(kind));
  return !isOver && !isOfNode && metadata.namespace !== 'kube-system';
}

/** Waits until a node is ready and takes pods. */
export async function waitForNode(cluster: Cluster, name: string): Promise<void> {
  await waitFor({ cluster, what: `the node ${name} to take pods`, seconds: 120 }, async () => {
    const node = (await cluster.nodes()).find(({ metadata }) => metadata.name === name);
    return (node && isUsable(node)) || undefined;
  });
}
