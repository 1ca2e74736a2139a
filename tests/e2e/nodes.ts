import { type Cluster, waitFor } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import type { Values } from '../../deploy/local/cluster/values.ts';
import type { World } from './scenario.ts';

/** The label of the pods to evict. */
const LABEL = 'fw-e2e';

/** The fields of a node that are read here. */
export interface Node {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly object[] };
  readonly status: {
    readonly addresses: readonly { readonly type: string; readonly address: string }[];
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

/** The nodes of a cluster. */
export async function readNodes(cluster: Cluster): Promise<readonly Node[]> {
  return (await cluster.read<{ readonly items: readonly Node[] }>('nodes')).items;
}

/** The internal address of a node. */
export function addressOf({ status }: Node): string {
  return status.addresses.find(({ type }) => type === 'InternalIP')?.address ?? 'localhost';
}

/** Whether a node is ready and accepts pods. */
function isUsable({ spec, status }: Node): boolean {
  const ready = status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return ready && !spec.unschedulable && !spec.taints?.length;
}

/** A node to keep, and a worker to cordon or kill; undefined without a second usable node. */
export async function pickNodes(
  cluster: Cluster,
): Promise<{ stays: Node; goes: Node } | undefined> {
  const isControl = ({ metadata }: Node) =>
    'node-role.kubernetes.io/control-plane' in metadata.labels;
  const [stays, ...others] = (await readNodes(cluster))
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

/** Returns an error message if the cluster has no second usable node. */
export async function missingSecondNode({
  cluster,
}: Pick<World, 'cluster'>): Promise<string | undefined> {
  if (await pickNodes(cluster)) return undefined;
  return 'the cluster has no second node that accepts pods: expected two or more';
}

/**
 * Returns an error message if a scenario cannot cordon or kill a node: there is no second node, or it
 * has other workloads and `E2E_ALLOW_NODES` is not set.
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
 * @throws {Error} that names other workloads on the node, unless `E2E_ALLOW_NODES` is set
 */
export async function drain(
  { cluster, settings, namespace }: Pick<World, 'cluster' | 'settings' | 'namespace'>,
  node: string,
): Promise<void> {
  const message = settings.allowNodes ? undefined : await otherWorkloads(cluster, node, namespace);
  if (message) throw new Error(message);
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

/** An error message that names pods of other namespaces on a node; undefined if there are none. */
async function otherWorkloads(
  cluster: Cluster,
  node: string,
  ownNamespace?: string,
): Promise<string | undefined> {
  const { items } = await cluster.read<{ readonly items: readonly Pod[] }>(
    ...['pods', '--all-namespaces', `--field-selector=spec.nodeName=${node}`],
  );
  const pods = items
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
    return (await acceptsPods(cluster, name)) || undefined;
  });
}

/** Waits until the cluster has noticed that a node does not respond. */
export async function waitForLostNode(cluster: Cluster, name: string): Promise<void> {
  await waitFor({ cluster, what: `the loss of the node ${name}`, seconds: 120 }, async () => {
    return !(await acceptsPods(cluster, name)) || undefined;
  });
}

async function acceptsPods(cluster: Cluster, name: string): Promise<boolean> {
  const node = (await readNodes(cluster)).find(({ metadata }) => metadata.name === name);
  return node !== undefined && isUsable(node);
}
