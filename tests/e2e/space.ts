import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../deploy/local/cluster/cluster.ts';
import { describeDiagnostics } from '../../deploy/local/cluster/diagnostics.ts';

/** What every namespace of ours carries, so that a run finds what another has left behind. */
const LABEL = 'fw-e2e';

/** A namespace that takes no pod which Pod Security "restricted" refuses. */
export interface Space {
  readonly name: string;
  /** Says what is wrong with the pods in it, each with its last event and last log lines. */
  troubles(cluster: Cluster): Promise<string>;
}

export interface SpaceOptions {
  readonly cluster: Cluster;
  readonly name: string;
  /** What pods are held to. Default `restricted`. */
  readonly podSecurity?: 'restricted' | 'privileged';
}

/** Makes a namespace of its own for a scenario. */
export async function createSpace({
  cluster,
  name: scenario,
  podSecurity = 'restricted',
}: SpaceOptions): Promise<Space> {
  const name = `fw-e2e-${scenario}-${randomBytes(3).toString('hex')}`;
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { [LABEL]: 'true', 'pod-security.kubernetes.io/enforce': podSecurity },
    },
  });
  return { name, troubles: (of) => describeDiagnostics(of, name) };
}

/** Removes a namespace and all in it; pods that would take their time to end are hurried. */
export async function removeSpace(cluster: Cluster, name: string): Promise<void> {
  await cluster.kubectl(['delete', 'namespace', name, '--ignore-not-found', '--wait=false']);
  // From now on nobody makes new ones.
  const pods = ['delete', 'pods', '--all', '--namespace', name];
  await cluster.kubectl([...pods, '--grace-period=1', '--wait=false']);
  await cluster.kubectl([
    ...['wait', '--for=delete', `namespace/${name}`, '--timeout=120s', '--request-timeout=0'],
  ]);
}
