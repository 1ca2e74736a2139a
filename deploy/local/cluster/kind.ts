import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { requireFreePort } from '../processes/ports.ts';
import { runProgram } from './program.ts';
import {
  addressOf,
  kubeconfigFile,
  type PrepareOptions,
  RELEASE,
  type TargetCluster,
} from './record.ts';

/** The node image of kind: Kubernetes 1.37, which kind 0.33 was released with. */
export const NODE_IMAGE =
  'kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5';

/** The port of the node that leads to the edge. */
const NODE_PORT = 30_080;

/** Whether the Docker engine has the node image. */
export function hasNodeImage(): Promise<boolean> {
  return runProgram('docker', ['image', 'inspect', NODE_IMAGE]).then(
    () => true,
    () => false,
  );
}

/** Creates a kind cluster, unless an earlier start did, and loads the services' images onto its node. */
export async function prepareKind(options: PrepareOptions): Promise<TargetCluster> {
  const { folders, port, env, limit, before, begin, log } = options;
  const name = before?.cluster ?? `fw-${port}`;
  if (!before) await requireFreePort(port, 'the edge');
  const clusters = await limit(20, 'listing the kind clusters', (signal) =>
    runProgram('kind', ['get', 'clusters'], { signal }),
  );
  const exists = clusters.split('\n').includes(name);
  if (before && !exists) {
    throw new Error(`The kind cluster ${name} no longer exists: run "make down" first`);
  }
  if (!before && exists) {
    throw new Error(
      `"make up" did not create the existing kind cluster ${name}: ` +
        `remove it (kind delete cluster --name ${name}), or choose another PORT`,
    );
  }
  await limit(900, 'building the images', (signal) => makeImages(folders.root, { env, signal }));

  const address = addressOf(port);
  const fixed = { backend: 'kind', cluster: name, namespace: 'fw', release: RELEASE } as const;
  const record = before ?? { ...fixed, address };
  if (!before) {
    begin(record);
    log(`Creating the kind cluster ${name}`);
    const kubeconfig = kubeconfigFile(folders.run);
    const args = ['create', 'cluster', '--name', name, '--kubeconfig', kubeconfig];
    const input = JSON.stringify(configOf(name, port));
    await limit(300, `creating the kind cluster ${name}`, (signal) =>
      runProgram('kind', [...args, '--config', '-', '--wait', '180s'], { signal, input }),
    );
  }
  const imageOf = (service: string) => `fw-${service}:${env.TAG || 'dev'}`;
  const others = [env.POSTGRES_IMAGE, env.VALKEY_IMAGE, env.NGINX_IMAGE];
  const images = [...SERVICE_NAMES.map(imageOf), ...others.filter((image) => image !== undefined)];
  log(`Loading ${images.join(', ')}`);
  await limit(300, 'loading the images', (signal) =>
    runProgram('kind', ['load', 'docker-image', ...images, '--name', name], { signal }),
  );
  const ids = SERVICE_NAMES.map(async (service) => [service, await idOf(imageOf(service))]);
  return { record, nodePort: NODE_PORT, imageIds: Object.fromEntries(await Promise.all(ids)) };
}

/** A cluster of one node, whose port for the edge is a port of this machine; JSON is valid YAML. */
function configOf(name: string, port: number): object {
  const mapping = { containerPort: NODE_PORT, hostPort: port, listenAddress: '127.0.0.1' };
  return {
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    name,
    nodes: [{ role: 'control-plane', image: NODE_IMAGE, extraPortMappings: [mapping] }],
  };
}

/** Runs `make images`, which prints its own progress. */
async function makeImages(
  root: string,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<void> {
  const program = path.join(root, 'deploy/images/build.ts');
  const stdio = ['ignore', 'inherit', 'inherit'] as const;
  const child = spawn(process.execPath, [program], { cwd: root, env, signal, stdio: [...stdio] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('Cannot start without the images: see the lines above');
}

/** The start of an image's digest, which is the same after a build without changes. */
async function idOf(image: string): Promise<string> {
  const id = await runProgram('docker', ['image', 'inspect', '--format', '{{.Id}}', image]);
  return id.trim().replace('sha256:', '').slice(0, 12);
}

/** Deletes the kind cluster `name` with all its data. */
export async function deleteKind(
  name: string,
  { kubeconfig, signal }: { readonly kubeconfig: string; readonly signal: AbortSignal },
): Promise<void> {
  const args = ['delete', 'cluster', '--name', name, '--kubeconfig', kubeconfig];
  await runProgram('kind', args, { signal });
}
