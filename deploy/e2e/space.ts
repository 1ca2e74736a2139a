import { randomBytes } from 'node:crypto';

import type { Cluster } from './cluster.ts';
import { lastLines } from './program.ts';
import { findTroubles } from './troubles.ts';

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
  return { name, troubles: (of) => tellTroubles(of, name) };
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

/** Says what is wrong with the pods of a namespace, each with its last event and last log lines. */
export async function tellTroubles(cluster: Cluster, namespace: string): Promise<string> {
  const troubles = findTroubles(await cluster.pods(namespace), await cluster.events(namespace));
  const told = await Promise.all(
    troubles.map(async ({ name, state, event, log }) => {
      const lines = log ? await readLog(cluster, { namespace, pod: name, ...log }) : '';
      return [`${name} ${state}`, event && `last event: ${event}`, lines]
        .filter(Boolean)
        .join('\n')
        .replaceAll('\n', '\n  ');
    }),
  );
  return told.join('\n');
}

interface LogOptions {
  readonly namespace: string;
  /** `Pod`, and its name. */
  readonly pod: string;
  readonly container: string;
  readonly previous: boolean;
}

async function readLog(cluster: Cluster, { namespace, pod, container, previous }: LogOptions) {
  try {
    const log = await cluster.kubectl([
      ...['logs', '--namespace', namespace, pod.replace('Pod ', ''), '--container', container],
      ...['--tail=5', `--previous=${previous}`],
    ]);
    return log && `last lines of its log:\n${lastLines(log, 5)}`;
  } catch (error) {
    // The pod may just be gone.
    return error instanceof Error ? `without a log: ${error.message.split('\n')[0]}` : '';
  }
}
