import { runProgram } from './program.ts';

/** What a node of kind is made of: Kubernetes 1.37, which kind 0.33 was released with. */
export const NODE_IMAGE =
  'kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5';

/** The port of the node that the edge is reached at. */
export const NODE_PORT = 30_080;

export interface KindOptions {
  readonly name: string;
  readonly kubeconfig: string;
  /** The port of this machine that leads to the edge. */
  readonly port: number;
  readonly signal: AbortSignal;
}

/** One node, whose port for the edge is one of this machine's. */
export function kindConfig({ name, port }: Pick<KindOptions, 'name' | 'port'>): object {
  const mapping = { containerPort: NODE_PORT, hostPort: port, listenAddress: '127.0.0.1' };
  return {
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    name,
    nodes: [{ role: 'control-plane', image: NODE_IMAGE, extraPortMappings: [mapping] }],
  };
}

/**
 * Brings the image of kind's node into the Docker engine.
 *
 * @throws {Error} saying why it cannot be had
 */
export async function bringNodeImage(signal: AbortSignal): Promise<void> {
  const here = await runProgram('docker', ['image', 'inspect', NODE_IMAGE], { signal }).then(
    () => true,
    () => false,
  );
  if (!here) await runProgram('docker', ['pull', '--quiet', NODE_IMAGE], { signal });
}

/** Whether there is a cluster of kind of this name. */
export async function hasKindCluster(name: string, signal: AbortSignal): Promise<boolean> {
  const names = await runProgram('kind', ['get', 'clusters'], { signal });
  return names.split('\n').includes(name);
}

/** Makes the cluster, and waits for its node. */
export async function createKindCluster(options: KindOptions): Promise<void> {
  const { name, kubeconfig, signal } = options;
  const args = ['create', 'cluster', '--name', name, '--kubeconfig', kubeconfig];
  // YAML reads JSON as it stands.
  const input = JSON.stringify(kindConfig(options));
  await runProgram('kind', [...args, '--config', '-', '--wait', '180s'], { signal, input });
}

/** Brings images of the Docker engine onto the cluster's node. */
export async function loadImages(
  images: readonly string[],
  { name, signal }: Pick<KindOptions, 'name' | 'signal'>,
): Promise<void> {
  await runProgram('kind', ['load', 'docker-image', ...images, '--name', name], { signal });
}

/** Deletes the cluster, and all that is in it. */
export async function deleteKindCluster({
  name,
  kubeconfig,
  signal,
}: Omit<KindOptions, 'port'>): Promise<void> {
  const args = ['delete', 'cluster', '--name', name, '--kubeconfig', kubeconfig];
  await runProgram('kind', args, { signal });
}
