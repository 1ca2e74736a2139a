import fs from 'node:fs';
import path from 'node:path';
import { type Cluster, waitFor } from './cluster.ts';
import { describeDiagnostics } from './diagnostics.ts';
import { packCharts } from './pack-charts.ts';
import type { ClusterRecord } from './record.ts';
import type { Values } from './values.ts';

/** Where the platform is, or is to be. */
export type Place = Pick<ClusterRecord, 'namespace' | 'release'>;

/** On a namespace that is ours: it goes with what is in it. */
const OURS = 'fw/made-by';

/** A part of the platform, and how much of it takes requests. */
export interface Part {
  readonly name: string;
  readonly wanted: number;
  readonly ready: number;
  /** Whether every pod is ready and none of an earlier version is left. */
  readonly settled: boolean;
}

/** What is read of a Deployment or StatefulSet. */
interface Workload {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
  };
}

/** Whether Helm has a release of this name there. */
export async function isInstalled(
  cluster: Cluster,
  { namespace, release }: Place,
): Promise<boolean> {
  try {
    await cluster.helm(['status', release, '--namespace', namespace]);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('release: not found')) return false;
    throw error;
  }
}

/** Makes the namespace where it is missing, and tells whether it was. */
export async function ensureNamespace(cluster: Cluster, name: string): Promise<boolean> {
  const found = await cluster.kubectl([
    'get',
    'namespace',
    name,
    '--ignore-not-found',
    '-o',
    'name',
  ]);
  if (found.trim() !== '') return false;
  const labels = { [OURS]: 'make-up', 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  return true;
}

/** Installs the platform with `values`, or changes it to what they say; its pods are then on their way. */
export async function putPlatform(
  cluster: Cluster,
  {
    namespace,
    release,
    values,
    file,
  }: Place & {
    readonly values: Values;
    /** A values file that goes over them. */
    readonly file?: string | undefined;
  },
): Promise<void> {
  const charts = packCharts();
  try {
    const chart = path.join(charts, 'platform');
    const args = ['upgrade', '--install', release, chart, '--namespace', namespace];
    // By its standard input: what is secret stands in no list of processes.
    const over = file ? ['--values', file] : [];
    await cluster.helm([...args, '--values', '-', ...over], JSON.stringify(values));
  } finally {
    fs.rmSync(charts, { recursive: true, force: true });
  }
}

/** What the tokens of reports are signed with there. */
export async function readTokenSecret(
  cluster: Cluster,
  { namespace, release }: Place,
): Promise<string> {
  const { data } = await cluster.read<{ readonly data: { readonly secret: string } }>(
    ...['secret', `${release}-tokens`, '--namespace', namespace],
  );
  return Buffer.from(data.secret, 'base64').toString();
}

/** The parts of the platform, by name. */
export async function readParts(cluster: Cluster, { namespace, release }: Place): Promise<Part[]> {
  const { items } = await cluster.read<{ readonly items: readonly Workload[] }>(
    ...['deployments,statefulsets', '--namespace', namespace],
    ...['--selector', `app.kubernetes.io/instance=${release}`],
  );
  return items.map(({ metadata, spec, status }) => {
    const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, observedGeneration } = status;
    const name = metadata.name.replace(`${release}-`, '');
    const wanted = spec.replicas;
    const settled =
      observedGeneration === metadata.generation &&
      [replicas, updatedReplicas, readyReplicas].every((count) => count === wanted);
    return { name, wanted, ready: readyReplicas, settled };
  });
}

export interface ReadyOptions extends Place {
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** How often those who wait are told what for, in milliseconds. */
const TELL_MS = 15_000;

/**
 * Waits until every part is ready, and tells of each as it comes, and now and then what is missing.
 *
 * @throws {Error} with the last event of each pod that is not ready within `seconds`
 */
export async function waitUntilReady(cluster: Cluster, options: ReadyOptions): Promise<void> {
  const { namespace, seconds, say } = options;
  const begun = Date.now();
  const told = new Set<string>();
  let next = begun + TELL_MS;
  let missing: readonly Part[] = [];
  const since = () => `${((Date.now() - begun) / 1000).toFixed(1)} s`;
  try {
    await waitFor({ cluster, what: 'the pods', seconds }, async () => {
      const parts = await readParts(cluster, options);
      missing = parts.filter(({ settled }) => !settled);
      for (const { name, wanted } of parts.filter(({ settled }) => settled)) {
        if (!told.has(name)) say(`  ${name.padEnd(10)} ${wanted} ready after ${since()}`);
        told.add(name);
      }
      if (parts.length > 0 && missing.length === 0) return true;
      if (Date.now() > next) {
        next += TELL_MS;
        const [first = ''] = (await describeDiagnostics(cluster, namespace)).split(/\n(?! )/);
        say(`  Waiting for ${describe(missing)}${indent(`\n${first}`)}`);
      }
      return undefined;
    });
  } catch (error) {
    if (cluster.signal.aborted || missing.length === 0) throw error;
    const diagnostics = indent(`\n${await describeDiagnostics(cluster, namespace)}`);
    const message = `Not ready within ${seconds} s: ${describe(missing)}${diagnostics}`;
    throw new Error(message, { cause: error });
  }
}

function describe(parts: readonly Part[]): string {
  return parts.map(({ name, ready, wanted }) => `${name} (${ready} of ${wanted})`).join(', ');
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

/**
 * Removes the platform, and gives the claims that hold its data: they stay unless `clean`. A namespace
 * of ours goes too once there is none.
 */
export async function removePlatform(
  cluster: Cluster,
  { namespace, release, clean }: Place & { readonly clean: boolean },
): Promise<string[]> {
  const inside = ['--namespace', namespace];
  const ofRelease = ['--selector', `app.kubernetes.io/instance=${release}`];
  if (await isInstalled(cluster, { namespace, release })) {
    await cluster.helm(['uninstall', release, ...inside, '--wait', '--timeout', '120s']);
  }
  if (clean) {
    await cluster.kubectl(['delete', 'persistentvolumeclaims', ...inside, ...ofRelease]);
  }
  const left = await cluster.kubectl([
    'get',
    'persistentvolumeclaims',
    ...inside,
    ...ofRelease,
    '-o',
    'name',
  ]);
  const claims = left
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => path.basename(line));
  if (claims.length === 0) {
    const ours = [
      '--selector',
      `${OURS}=make-up`,
      '--field-selector',
      `metadata.name=${namespace}`,
    ];
    await cluster.kubectl([
      'delete',
      'namespaces',
      ...ours,
      '--request-timeout=0',
      '--timeout=120s',
    ]);
  }
  return claims;
}

/** Whether the cluster has a class of volumes by default that it makes volumes of. */
export async function makesVolumes(cluster: Cluster): Promise<boolean> {
  const { items } = await cluster.read<{
    readonly items: readonly {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly provisioner: string;
    }[];
  }>('storageclasses');
  return items.some(
    ({ metadata, provisioner }) =>
      metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' &&
      provisioner !== 'kubernetes.io/no-provisioner',
  );
}
