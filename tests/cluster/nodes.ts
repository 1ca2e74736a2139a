import { type Cluster, waitFor } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import { runProgram } from '../../deploy/local/cluster/program.ts';
import type { Values } from './values.ts';
import type { World } from './world.ts';

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

/** Whether a node is ready and accepts pods. */
function isUsable({ spec, status }: Node): boolean {
  const ready = status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return ready && !spec.unschedulable && !spec.taints?.length;
}

export async function readNodes(cluster: Cluster): Promise<readonly Node[]> {
  return (await cluster.read<{ readonly items: readonly Node[] }>('nodes')).items;
}

/**
 * The usable nodes: one that stays, for pods that exist once, and a worker that may be drained or killed.
 *
 * @throws {Error} if the cluster has no second usable node
 */
export async function pickNodes(cluster: Cluster): Promise<{ stays: Node; goes: Node }> {
  const isControl = ({ metadata }: Node) =>
    Number('node-role.kubernetes.io/control-plane' in metadata.labels);
  const [stays, ...others] = (await readNodes(cluster))
    .filter(isUsable)
    .toSorted((a, b) => isControl(b) - isControl(a));
  const goes = others.find((node) => !isControl(node));
  if (stays && goes) return { stays, goes };
  throw new Error('the cluster has no second node that accepts pods: expected two or more');
}

/** The address at which this machine reaches the ports of a node. */
export async function nodeHost({ cluster, settings }: World): Promise<string> {
  const { stays } = await pickNodes(cluster);
  const internal = stays.status.addresses.find(({ type }) => type === 'InternalIP');
  return settings.nodeHost ?? internal?.address ?? 'localhost';
}

/** Values that schedule PostgreSQL and Valkey, which have one pod each, on the node that stays. */
export async function singlePodsOnOneNode(cluster: Cluster): Promise<Values> {
  const { metadata } = (await pickNodes(cluster)).stays;
  const nodeSelector = { 'kubernetes.io/hostname': metadata.labels['kubernetes.io/hostname'] };
  return { trial: { postgres: { nodeSelector }, valkey: { nodeSelector } } };
}

/** Returns an error message if no node may be drained or killed, because of other workloads on it. */
export async function missingSpareNode({ cluster, settings }: World): Promise<string | undefined> {
  const node = (await pickNodes(cluster)).goes.metadata.name;
  if (settings.allowNodes) return undefined;
  const { items } = await cluster.read<{ readonly items: readonly Pod[] }>(
    ...['pods', '--all-namespaces', `--field-selector=spec.nodeName=${node}`],
  );
  const names = items.filter(isWorkload).map((pod) => pod.metadata.name);
  if (names.length === 0) return undefined;
  return `other workloads run on the node ${node}: ${names.join(', ')}; set E2E_ALLOW_NODES=1 if it may be drained and killed`;
}

/** Whether a pod is a workload: not finished, and part of neither the cluster nor its node. */
function isWorkload({ metadata, status }: Pod): boolean {
  const isFinished = status.phase === 'Succeeded' || status.phase === 'Failed';
  const isOfNode = metadata.ownerReferences?.some(({ kind }) => /^(DaemonSet|Node)$/.test(kind));
  return !isFinished && !isOfNode && metadata.namespace !== 'kube-system';
}

/** Cordons a node, evicts the pods of the namespace from it, and no others, and uncordons it. */
export async function drain({ cluster, namespace, onCleanUp }: World, node: string): Promise<void> {
  const uncordon = async (current: Cluster) => void (await current.kubectl(['uncordon', node]));
  onCleanUp(uncordon);
  await cluster.kubectl(['cordon', node]);
  // kubectl drain selects pods by labels only, in all namespaces.
  await cluster.kubectl([
    ...['label', 'pods', '--namespace', namespace, `--field-selector=spec.nodeName=${node}`],
    ...['--overwrite', `fw-e2e=${namespace}`],
  ]);
  await cluster.kubectl([
    ...['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--request-timeout=0'],
    ...['--pod-selector', `fw-e2e=${namespace}`, '--timeout=150s'],
  ]);
  await uncordon(cluster);
}

/**
 * Cuts the power of a node, and waits until the cluster has noticed it. Returns a function that starts the node
 * and waits until it accepts pods; the clean-up calls it too.
 */
export async function killNode(
  { cluster, settings, onCleanUp }: World,
  node: string,
): Promise<() => Promise<void>> {
  const run = ({ signal }: Cluster, command = '') =>
    runProgram('bash', ['-c', `${command} "$1"`, 'bash', node], { signal });
  let isOff = true;
  const start = async (current: Cluster) => {
    if (!isOff) return;
    await run(current, settings.startNode);
    await waitForNode(current, node, true);
    isOff = false;
  };
  onCleanUp(start);
  await run(cluster, settings.killNode);
  await waitForNode(cluster, node, false);
  return () => start(cluster);
}

async function waitForNode(cluster: Cluster, name: string, isWanted: boolean): Promise<void> {
  const what = `the node ${name} to ${isWanted ? 'accept pods' : 'be reported as lost'}`;
  await waitFor({ cluster, what, seconds: 120 }, async () => {
    const node = (await readNodes(cluster)).find(({ metadata }) => metadata.name === name);
    return (node !== undefined && isUsable(node)) === isWanted || undefined;
  });
}
