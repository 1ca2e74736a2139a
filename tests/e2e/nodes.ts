import { type Cluster, isUsable, type Node, waitFor } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import type { Values } from '../../deploy/local/cluster/values.ts';
import type { World } from './scenario.ts';

/** The label of the pods to evict. */
const LABEL = 'fw-e2e';

/** A node to keep, and a worker to cordon or kill; undefined without a second usable node. */
export async function pickNodes(
  cluster: Cluster,
): Promise<{ stays: Node; goes: Node } | undefined> {
  const isControl = ({ metadata }: Node) =>
    'node-role.kubernetes.io/control-plane' in metadata.labels;
  const [stays, ...others] = (await cluster.nodes())
    .filter(isUsable)
    .toSorted(
      (a, b) =>
        Number(isControl(b)) - Number(isControl(a)) ||
        a.metadata.name.localeCompare(b.metadata.name),
    );
  const goes = others.at(-1);
  return stays && goes && !isControl(goes) ? { stays, goes } : undefined;
}

/** Values that schedule PostgreSQL and Valkey, which have one pod each, on a node. */
export function singlePodsOn({ metadata }: Node): Values {
  const nodeSelector = { 'kubernetes.io/hostname': metadata.labels['kubernetes.io/hostname'] };
  return { postgres: { nodeSelector }, valkey: { nodeSelector } };
}

/** Returns that the cluster has no second usable node, if so. */
export async function missingSecondNode({
  cluster,
}: Pick<World, 'cluster'>): Promise<string | undefined> {
  if (await pickNodes(cluster)) return undefined;
  return 'the cluster has no second node that accepts pods: expected two or more';
}

/**
 * Returns what is missing for a scenario that cordons or kills a node: a second node, or, unless
 * `E2E_ALLOW_NODES` is set, one without other workloads.
 */
export async function missingSpareNode({
  cluster,
  settings,
}: Pick<World, 'cluster' | 'settings'>): Promise<string | undefined> {
  const nodes = await pickNodes(cluster);
  if (!nodes) return missingSecondNode({ cluster });
  return settings.allowNodes ? undefined : otherWorkloads(cluster, nodes.goes.metadata.name);
}

/**
 * Cordons a node and evicts the pods of the scenario's namespace from it, and no others.
 *
 * @throws {Error} naming other workloads on the node, unless `E2E_ALLOW_NODES` is set
 */
export async function drain(
  { cluster, settings, namespace }: Pick<World, 'cluster' | 'settings' | 'namespace'>,
  node: string,
): Promise<void> {
  const lack = settings.allowNodes ? undefined : await otherWorkloads(cluster, node, namespace);
  if (lack) throw new Error(lack);
  await cluster.kubectl(['cordon', node]);
  // kubectl drain selects pods by labels only, in all namespaces.
  await cluster.kubectl([
    ...['label', 'pods', '--namespace', namespace, `--field-selector=spec.nodeName=${node}`],
    ...['--overwrite', `${LABEL}=${namespace}`],
  ]);
  await cluster.kubectl([
    ...['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--request-timeout=0'],
    ...['--pod-selector', `${LABEL}=${namespace}`, '--timeout=150s'],
  ]);
}

/** Allows the scheduler to place pods on a node again. */
export async function uncordon(cluster: Cluster, node: string): Promise<void> {
  await cluster.kubectl(['uncordon', node]);
}

/** The number of pods that a message names. */
const NAMED = 10;

/** A sentence that names the pods of others on a node; undefined if there are none. */
async function otherWorkloads(
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
  return `other workloads run on the node ${node}: ${names}; set E2E_ALLOW_NODES=1 if it may be cordoned or killed`;
}

/** Whether a pod is a workload: not finished, and part of neither the cluster nor its node. */
function isWorkload({ metadata, status }: Pod): boolean {
  const isFinished = status.phase === 'Succeeded' || status.phase === 'Failed';
  const isOfNode = metadata.ownerReferences?.some(({ kind }) => /^(DaemonSet|Node)$/.test(kind));
  return !isFinished && !isOfNode && metadata.namespace !== 'kube-system';
}

/** Waits until a node is ready and accepts pods. */
export async function waitForNode(cluster: Cluster, name: string): Promise<void> {
  await waitFor({ cluster, what: `the node ${name} to accept pods`, seconds: 120 }, async () => {
    const node = (await cluster.nodes()).find(({ metadata }) => metadata.name === name);
    return (node && isUsable(node)) || undefined;
  });
}
