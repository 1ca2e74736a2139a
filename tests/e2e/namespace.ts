import { randomBytes } from 'node:crypto';

import type { Cluster } from '../../deploy/local/cluster/cluster.ts';

export interface NamespaceOptions {
  /** The middle part of the name: `fw-e2e-<name>-1a2b3c`. */
  readonly name: string;
  /** The enforced Pod Security standard. Default `restricted`. */
  readonly podSecurity?: 'restricted' | 'privileged';
}

/** Creates a namespace, labelled so that leftovers of other runs can be found; returns its name. */
export async function createNamespace(
  cluster: Cluster,
  { name: middle, podSecurity = 'restricted' }: NamespaceOptions,
): Promise<string> {
  const name = `fw-e2e-${middle}-${randomBytes(3).toString('hex')}`;
  const labels = { 'fw-e2e': 'true', 'pod-security.kubernetes.io/enforce': podSecurity };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  return name;
}

/** Removes a namespace and everything in it, without waiting for the grace period of its pods. */
export async function removeNamespace(cluster: Cluster, name: string): Promise<void> {
  await cluster.kubectl(['delete', 'namespace', name, '--ignore-not-found', '--wait=false']);
  // A namespace that is being deleted gets no new pods.
  await cluster.kubectl([
    ...['delete', 'pods', '--all', '--namespace', name, '--grace-period=1', '--wait=false'],
  ]);
  await cluster.kubectl([
    ...['wait', '--for=delete', `namespace/${name}`, '--timeout=120s', '--request-timeout=0'],
  ]);
}
