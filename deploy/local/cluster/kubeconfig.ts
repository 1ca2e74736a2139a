import fs from 'node:fs';
import path from 'node:path';

import { requireFreePort } from '../processes/ports.ts';
import { writeFile } from '../state.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { isInstalled } from './platform.ts';
import {
  addressOf,
  clusterOf,
  kubeconfigFile,
  type PrepareOptions,
  RELEASE,
  type TargetCluster,
} from './record.ts';
import { reasonOf } from './time-limit.ts';

/** Time for the responses of the cluster. */
const RESPONSE_SECONDS = 20;

/** The kinds of object that `make up` must be allowed to create. */
const KINDS = [
  'deployments.apps',
  'statefulsets.apps',
  'secrets',
  'networkpolicies.networking.k8s.io',
];

/**
 * Checks that the charts can be installed on the cluster that KUBECONFIG names.
 *
 * @throws {Error} if it is not set, the cluster does not respond, or rights are missing
 */
export async function prepareKubeconfig(options: PrepareOptions): Promise<TargetCluster> {
  const { folders, port, env, limit, before, begin } = options;
  if (!before) {
    await requireFreePort(port, 'the edge');
    await copyKubeconfig(options);
  }
  return limit(3 * RESPONSE_SECONDS, 'waiting for the cluster', async (signal) => {
    const cluster = clusterOf(folders.run, signal);
    const name = (await cluster.kubectl(['config', 'current-context'])).trim();
    await requireResponse(cluster, name);
    const namespace = before?.namespace ?? (env.NAMESPACE || 'fw');
    await requireRights(cluster, { name, namespace });
    if (before) return { record: before };
    const fixed = { backend: 'kubeconfig', cluster: name, release: RELEASE } as const;
    const record = { ...fixed, namespace, address: addressOf(port) };
    if (await isInstalled(cluster, record)) {
      throw new Error(
        `"make up" did not install the existing release ${RELEASE} in ${namespace} of ${name}: ` +
          'choose another NAMESPACE, or uninstall it',
      );
    }
    begin(record);
    return { record };
  });
}

/** Copies the current context of KUBECONFIG, which may change later. */
async function copyKubeconfig({ folders, env, limit }: PrepareOptions): Promise<void> {
  if (!env.KUBECONFIG) throw new Error('KUBECONFIG is not set: expected the file of a cluster');
  const missing = env.KUBECONFIG.split(path.delimiter).find((file) => !fs.existsSync(file));
  if (missing) throw new Error(`KUBECONFIG names ${missing}, which does not exist`);
  const text = await limit(RESPONSE_SECONDS, 'reading KUBECONFIG', (signal) =>
    createCluster(signal, env).kubectl(['config', 'view', '--minify', '--flatten', '--raw']),
  );
  writeFile(kubeconfigFile(folders.run), text);
}

async function requireResponse(cluster: Cluster, name: string): Promise<void> {
  try {
    await cluster.kubectl(['version', `--request-timeout=${RESPONSE_SECONDS}s`]);
  } catch (error) {
    cluster.signal.throwIfAborted();
    throw new Error(`Cannot reach the cluster ${name}: ${reasonOf(error)}`, { cause: error });
  }
}

async function requireRights(
  cluster: Cluster,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<void> {
  for (const kind of KINDS) {
    // kubectl exits with 1 if the response is "no".
    const args = ['auth', 'can-i', 'create', kind, '--namespace', namespace];
    const response = await cluster.kubectl(args).catch(() => 'no');
    cluster.signal.throwIfAborted();
    if (response.trim() === 'yes') continue;
    throw new Error(`Cannot install on ${name}: no permission to create ${kind} in ${namespace}`);
  }
}
