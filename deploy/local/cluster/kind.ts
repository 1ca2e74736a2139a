import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { requireFreePort } from '../processes/ports.ts';
import { type Folders, writeFile } from '../state.ts';
import { reasonOf, runProgram } from './program.ts';

/** Kubernetes 1.37, which kind 0.33 was released with. */
const NODE_IMAGE =
  'kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5';

/** The port of the node that leads to the edge. */
export const NODE_PORT = 30_080;

/** The kind cluster of a checkout, which later commands find in `.local/run/kind.json`. */
export interface KindCluster {
  readonly name: string;
  /** The address of the edge. */
  readonly address: string;
  /** The images that were built for it, and did not exist before. */
  readonly images: readonly string[];
}

/** The file with the credentials of the cluster, for kubectl and helm. */
export function kubeconfigFile(run: string): string {
  return path.join(run, 'kubeconfig');
}

/** The kind cluster of this checkout; undefined if there is none. */
export function readKind(run: string): KindCluster | undefined {
  const file = path.join(run, 'kind.json');
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

export function writeKind(run: string, kind: KindCluster): void {
  writeFile(path.join(run, 'kind.json'), `${JSON.stringify(kind, undefined, 2)}\n`);
}

export interface KindOptions {
  readonly folders: Folders;
  /** The variables of deploy/README.md. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Ends the running program. */
  readonly signal: AbortSignal;
}

/** The cluster that `make up` creates for `port`. @throws {Error} if the port or the name is taken */
export async function planKind(port: number): Promise<KindCluster> {
  const name = `fw-${port}`;
  await requireFreePort(port, 'the edge');
  await requireNewName(name);
  return { name, address: `http://localhost:${port}`, images: [] };
}

/** Creates a cluster of one node, whose port for the edge is that of its address. */
export async function createKind(kind: KindCluster, options: KindOptions): Promise<void> {
  const { folders, env, log, signal } = options;
  const { name, address } = kind;
  log(`Creating the kind cluster ${name}, which takes about a minute`);
  // Recorded before the first change, so that "make down" can delete it.
  writeKind(folders.run, kind);
  const hostPort = Number(new URL(address).port);
  const mapping = { containerPort: NODE_PORT, hostPort, listenAddress: '127.0.0.1' };
  const node = { role: 'control-plane', image: nodeImageOf(env), extraPortMappings: [mapping] };
  // JSON is valid YAML.
  const config = { kind: 'Cluster', apiVersion: 'kind.x-k8s.io/v1alpha4', nodes: [node] };
  const args = ['create', 'cluster', '--name', name, '--config', '-', '--wait', '180s'];
  args.push('--kubeconfig', kubeconfigFile(folders.run));
  const run = { signal, input: JSON.stringify(config), seconds: 300 };
  await runProgram('kind', args, run).catch((cause: unknown) => {
    signal.throwIfAborted();
    // kind prints its steps before the reason, and sometimes a log after it.
    const [reason = reasonOf(cause)] = /^ERROR: .*$/m.exec(String(cause)) ?? [];
    throw new Error(`Cannot create the kind cluster ${name}: ${reason}`, { cause });
  });
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

/** @throws {Error} with the command that starts the node, or removes what is left, if it does not run */
export async function requireRunningNode({ name }: KindCluster): Promise<void> {
  const node = `${name}-control-plane`;
  const args = ['ps', '--all', '--filter', `name=^${node}$`, '--format', '{{.State}}'];
  const output = await runProgram('docker', args).catch((cause: unknown) => {
    throw new Error(`Cannot find the kind cluster ${name}: ${reasonOf(cause)}`, { cause });
  });
  const state = output.trim();
  if (state === 'running') return;
  throw new Error(
    state === ''
      ? `The kind cluster ${name} no longer exists: run "make down" first`
      : `The node of the kind cluster ${name} does not run (${state}): "docker start ${node}", or "make down"`,
  );
}

/** Deletes the cluster with all its data, and the images that were built for it. */
export async function deleteKind(run: string, { name, images }: KindCluster): Promise<string> {
  const args = ['delete', 'cluster', '--name', name, '--kubeconfig', kubeconfigFile(run)];
  await runProgram('kind', args, { seconds: 180 }).catch((cause: unknown) => {
    throw new Error(`Cannot delete the kind cluster ${name}: ${reasonOf(cause)}`, { cause });
  });
  // An image that another container uses stays.
  if (images.length > 0) await runProgram('docker', ['image', 'rm', ...images]).catch(() => {});
  return `Deleted the kind cluster ${name} and its data`;
}

/** The node image of kind; `KIND_IMAGE` replaces it, such as one of a mirror. */
export function nodeImageOf(env: NodeJS.ProcessEnv): string {
  return env.KIND_IMAGE || NODE_IMAGE;
}

/** Pulls an image that the Docker engine does not have. @throws {Error} with the reason, if it cannot */
export async function ensureImage(image: string, log: (line: string) => void): Promise<void> {
  if (await hasImage(image)) return;
  log(`Pulling ${image.split('@')[0]}`);
  await runProgram('docker', ['pull', '--quiet', image], { seconds: 600 });
}

async function hasImage(image: string): Promise<boolean> {
  return runProgram('docker', ['image', 'inspect', image]).then(
    () => true,
    () => false,
  );
}

/** The images of the services, in the Docker engine. */
export interface ServiceImages {
  /** The names of all images, with those that replace images of the charts. */
  readonly names: readonly string[];
  /** Those that did not exist before. */
  readonly created: readonly string[];
  /** A digest of the image of each service. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Pulls the images that replace those of the charts, then builds the images of the services. */
export async function prepareImages(options: KindOptions): Promise<ServiceImages> {
  const { folders, env, log, signal } = options;
  const variables = ['POSTGRES_IMAGE', 'VALKEY_IMAGE', 'NGINX_IMAGE'].filter((name) => env[name]);
  for (const name of variables) {
    await ensureImage(env[name] ?? '', log).catch((cause: unknown) => {
      const reason = `which is unavailable: ${reasonOf(cause)}`;
      throw new Error(`${name} is "${env[name]}", ${reason}`, { cause });
    });
  }
  const own = SERVICE_NAMES.map((service) => `fw-${service}:${env.TAG || 'dev'}`);
  const exist = await Promise.all(own.map(hasImage));
  await runProgram('make', ['--silent', 'images'], {
    ...{ cwd: folders.root, env, signal, seconds: 900 },
    show: true,
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new Error('Cannot start without the images: see the lines above', { cause });
  });
  const contents = await Promise.all(own.map(contentOf));
  return {
    names: [...own, ...variables.map((name) => env[name] ?? '')],
    created: own.filter((_, index) => !exist[index]),
    ids: Object.fromEntries(SERVICE_NAMES.map((name, index) => [name, contents[index] ?? ''])),
  };
}

/** A digest of what a container of the image runs. Its labels differ after each commit. */
async function contentOf(image: string): Promise<string> {
  const format = '{{json .RootFS.Layers}} {{json .Config.Entrypoint}} {{json .Config.Env}}';
  const content = await runProgram('docker', ['image', 'inspect', '--format', format, image]);
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
