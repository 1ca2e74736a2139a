import fs from 'node:fs';
import path from 'node:path';

import { type Folders, writeFile } from '../state.ts';
import { type Cluster, createCluster } from './cluster.ts';
import type { TimeLimit } from './time-limit.ts';

/** The installation of `make up` on a cluster. */
export interface ClusterRecord {
  readonly backend: 'kind' | 'kubeconfig';
  /** The name of the kind cluster, or of the context in the kubeconfig. */
  readonly cluster: string;
  readonly namespace: string;
  readonly release: string;
  /** The address of the edge. */
  readonly address: string;
  /** The images that were built for it, and did not exist before. */
  readonly images?: readonly string[];
}

export interface PrepareOptions {
  readonly folders: Folders;
  /** The port of this machine that leads to the edge. */
  readonly port: number;
  /** The variables of deploy/README.md. */
  readonly env: NodeJS.ProcessEnv;
  readonly limit: TimeLimit;
  /** The record of an earlier start. */
  readonly before: ClusterRecord | undefined;
  /** Records the installation before the first change, so that it can be undone. */
  readonly begin: (record: ClusterRecord) => void;
  readonly log: (line: string) => void;
  /** Shows what is in progress; a later line replaces it. Default: not shown. */
  readonly status?: (line: string) => void;
}

/** A cluster on which the charts can be installed. */
export interface TargetCluster {
  readonly record: ClusterRecord;
  /** The port of every node that leads to the edge. Without it, a port-forward is needed. */
  readonly nodePort?: number;
  /** The ids of the images that were loaded, by service. */
  readonly imageIds?: Readonly<Record<string, string>>;
}

/** The name of the Helm release. */
export const RELEASE = 'platform';

/** The address of the edge on every backend. */
export function addressOf(port: number): string {
  return `http://localhost:${port}`;
}

/** The kubeconfig of the cluster, for all later commands; it contains credentials. */
export function kubeconfigFile(run: string): string {
  return path.join(run, 'kubeconfig');
}

/** The installation on a cluster; undefined if there is none. */
export function readCluster(run: string): ClusterRecord | undefined {
  const file = path.join(run, 'cluster.json');
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

/** Records the installation on a cluster. */
export function writeCluster(run: string, record: ClusterRecord): void {
  writeFile(path.join(run, 'cluster.json'), `${JSON.stringify(record, undefined, 2)}\n`);
}

/** Runs helm and kubectl on the recorded cluster, regardless of the current KUBECONFIG. */
export function clusterOf(run: string, signal: AbortSignal): Cluster {
  return createCluster(signal, { ...process.env, KUBECONFIG: kubeconfigFile(run) });
}
