import fs from 'node:fs';
import path from 'node:path';

import { type Cluster, createCluster } from './cluster.ts';

/** What `make up` has put onto a cluster, as written down for the next command. */
export interface ClusterRecord {
  readonly backend: 'kind' | 'kubeconfig';
  /** What people call the cluster: the name of kind's, or of the context of a kubeconfig. */
  readonly cluster: string;
  readonly namespace: string;
  readonly release: string;
  /** Where the edge answers. */
  readonly address: string;
}

/**
 * The file that names the cluster to every later command, whatever KUBECONFIG says by then. It holds
 * the right to use it: it is for its owner's eyes only.
 */
export function kubeconfigFile(run: string): string {
  return path.join(run, 'kubeconfig');
}

/** The cluster that the system runs on; nothing where it runs on none. */
export function readCluster(run: string): ClusterRecord | undefined {
  const file = path.join(run, 'cluster.json');
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

/** Writes the cluster down, in one step. */
export function writeCluster(run: string, record: ClusterRecord): void {
  fs.mkdirSync(run, { recursive: true });
  const draft = path.join(run, `cluster.json.${process.pid}`);
  fs.writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`);
  fs.renameSync(draft, path.join(run, 'cluster.json'));
}

/** What runs helm and kubectl on the cluster of the system, whatever KUBECONFIG says now. */
export function clusterOf(run: string, signal: AbortSignal): Cluster {
  return createCluster(signal, { ...process.env, KUBECONFIG: kubeconfigFile(run) });
}
