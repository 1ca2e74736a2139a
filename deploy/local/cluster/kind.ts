import fs from 'node:fs';

import { requireFreePort } from '../processes/ports.ts';
import { waitFor } from './cluster.ts';
import { nodeImageOf, prepareImages } from './kind-images.ts';
import { runProgram } from './program.ts';
import {
  addressOf,
  type ClusterRecord,
  clusterOf,
  kubeconfigFile,
  type PrepareOptions,
  RELEASE,
  type TargetCluster,
  writeCluster,
} from './record.ts';
import { reasonOf } from './time-limit.ts';

/** The port of the node that leads to the edge. */
const NODE_PORT = 30_080;

/** Creates a kind cluster, unless an earlier start did, and loads the services' images onto its node. */
export async function prepareKind(options: PrepareOptions): Promise<TargetCluster> {
  const { port, limit, before, begin, log } = options;
  const name = before?.cluster ?? `fw-${port}`;
  if (before) {
    await requireRunningNode(before);
    await waitForApi(before, options);
  } else {
    await requireFreePort(port, 'the edge');
    await requireNewName(name);
  }
  const images = await prepareImages(options);

  const fixed = { backend: 'kind', cluster: name, namespace: 'fw', release: RELEASE } as const;
  const record: ClusterRecord = before
    ? { ...before, images: [...(before.images ?? []), ...images.created] }
    : { ...fixed, address: addressOf(port), images: images.created };
  if (before) {
    writeCluster(options.folders.run, record);
  } else {
    begin(record);
    await createKind(name, options);
  }
  log(`Loading ${images.names.join(', ')}`);
  await limit(300, 'loading the images', (signal) =>
    runProgram('kind', ['load', 'docker-image', ...images.names, '--name', name], { signal }),
  );
  return { record, nodePort: NODE_PORT, imageIds: images.ids };
}

/** Waits for the API of a cluster whose node was started just now. */
async function waitForApi(
  { cluster: name }: ClusterRecord,
  options: PrepareOptions,
): Promise<void> {
  const { folders, limit, log } = options;
  if (!fs.existsSync(kubeconfigFile(folders.run))) {
    throw new Error(`The kind cluster ${name} is incomplete: run "make down" first`);
  }
  const seconds = 120;
  await limit(seconds + 30, 'waiting for the cluster', (signal) => {
    const cluster = clusterOf(folders.run, signal);
    const isReady = () => cluster.kubectl(['get', '--raw', '/readyz']);
    return isReady().catch(() => {
      log(`Waiting for the kind cluster ${name}`);
      return waitFor({ cluster, what: `the kind cluster ${name}`, seconds }, isReady);
    });
  });
}

async function createKind(name: string, options: PrepareOptions): Promise<void> {
  const { folders, port, env, limit, log } = options;
  log(`Creating the kind cluster ${name}, which takes about a minute`);
  const args = ['create', 'cluster', '--name', name];
  args.push('--kubeconfig', kubeconfigFile(folders.run), '--config', '-', '--wait', '180s');
  const input = JSON.stringify(configOf(name, { port, image: nodeImageOf(env) }));
  await limit(300, `creating the kind cluster ${name}`, (signal) =>
    runProgram('kind', args, { signal, input }).catch((cause: unknown) => {
      signal.throwIfAborted();
      // kind prints its steps before the reason, and sometimes a log after it.
      const [reason = reasonOf(cause)] = /^ERROR: .*$/m.exec(String(cause)) ?? [];
      throw new Error(`Cannot create the kind cluster ${name}: ${reason}`, { cause });
    }),
  );
}

/** @throws {Error} if a kind cluster has this name, which "make up" did not create */
async function requireNewName(name: string): Promise<void> {
  const clusters = await runProgram('kind', ['get', 'clusters']);
  if (!clusters.split('\n').includes(name)) return;
  throw new Error(
    `"make up" did not create the existing kind cluster ${name}: ` +
      `remove it (kind delete cluster --name ${name}), or choose another PORT`,
  );
}

/**
 * Checks that the node of a kind cluster runs; of other clusters, nothing.
 *
 * @throws {Error} with the command that starts it, or removes what is left
 */
export async function requireRunningNode({
  backend,
  cluster,
}: Pick<ClusterRecord, 'backend' | 'cluster'>): Promise<void> {
  if (backend !== 'kind') return;
  const node = `${cluster}-control-plane`;
  const args = ['ps', '--all', '--filter', `name=^${node}$`, '--format', '{{.State}}'];
  const output = await runProgram('docker', args).catch((cause: unknown) => {
    throw new Error(`Cannot find the kind cluster ${cluster}: ${reasonOf(cause)}`, { cause });
  });
  const state = output.trim();
  if (state === 'running') return;
  throw new Error(
    state === ''
      ? `The kind cluster ${cluster} no longer exists: run "make down" first`
      : `The node of the kind cluster ${cluster} does not run (${state}): "docker start ${node}", or "make down"`,
  );
}

/** A cluster of one node, whose port for the edge is a port of this machine; JSON is valid YAML. */
function configOf(
  name: string,
  { port, image }: { readonly port: number; readonly image: string },
): object {
  const mapping = { containerPort: NODE_PORT, hostPort: port, listenAddress: '127.0.0.1' };
  return {
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    name,
    nodes: [{ role: 'control-plane', image, extraPortMappings: [mapping] }],
  };
}

/** Deletes the kind cluster of `record` with all its data, and the images that were built for it. */
export async function deleteKind(
  { cluster, images = [] }: ClusterRecord,
  { kubeconfig, signal }: { readonly kubeconfig: string; readonly signal: AbortSignal },
): Promise<void> {
  const args = ['delete', 'cluster', '--name', cluster, '--kubeconfig', kubeconfig];
  await runProgram('kind', args, { signal });
  if (images.length === 0) return;
  // An image that another container uses stays.
  await runProgram('docker', ['image', 'rm', ...images], { signal }).catch(() => {});
}
