import { type Cluster, isUsable, waitFor } from './cluster.ts';

/** Lets every pod of a node end, as before maintenance, and no new one come. */
export async function drain(cluster: Cluster, node: string, seconds = 150): Promise<void> {
  await cluster.kubectl([
    ...['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--request-timeout=0'],
    // Pods of others are none of ours to move, and these are all that we have.
    ...['--pod-selector', 'app.kubernetes.io/part-of=fw', `--timeout=${seconds}s`],
  ]);
}

/** Lets pods come to a node again. */
export async function uncordon(cluster: Cluster, node: string): Promise<void> {
  await cluster.kubectl(['uncordon', node]);
}

/** Waits until a node is there and takes pods. */
export async function waitForNode(cluster: Cluster, name: string): Promise<void> {
  await waitFor({ cluster, what: `the node ${name} to take pods`, seconds: 120 }, async () => {
    const node = (await cluster.nodes()).find(({ metadata }) => metadata.name === name);
    return (node && isUsable(node)) || undefined;
  });
}
