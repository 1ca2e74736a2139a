import path from 'node:path';
import { CHARTS } from '../../charts/folder.ts';
import { type Cluster, waitFor } from './cluster.ts';
import { describeDiagnostics } from './diagnostics.ts';
import type { ClusterRecord } from './record.ts';
import type { Values } from './values.ts';

/** The namespace and the release of the platform. */
export type Place = Pick<ClusterRecord, 'namespace' | 'release'>;

/** Label of a namespace that `make up` created, and `make down` deletes. */
const CREATED = 'fw/made-by=make-up';

/** A Deployment or StatefulSet of the platform. */
export interface Part {
  readonly name: string;
  /** Number of replicas. */
  readonly wanted: number;
  /** Number of replicas of the current version that are ready. */
  readonly ready: number;
  /** Whether all replicas are ready and of the current version. */
  readonly settled: boolean;
}

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

/** Whether the Helm release exists. */
export async function isInstalled(cluster: Cluster, place: Place): Promise<boolean> {
  try {
    await cluster.helm(['status', place.release, '--namespace', place.namespace]);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('release: not found')) return false;
    throw error;
  }
}

/** Creates the namespace if it is missing. Returns whether it was. */
export async function ensureNamespace(cluster: Cluster, name: string): Promise<boolean> {
  const args = ['get', 'namespace', name, '--ignore-not-found', '-o', 'name'];
  if ((await cluster.kubectl(args)).trim() !== '') return false;
  const [key = '', value] = CREATED.split('=');
  const labels = { [key]: value, 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  return true;
}

export interface InstallOptions extends Place {
  readonly values: Values;
  /** A values file that overrides `values`. */
  readonly file?: string | undefined;
}

/** Installs or upgrades the platform, without waiting for its pods. */
export async function installPlatform(cluster: Cluster, options: InstallOptions): Promise<void> {
  const { namespace, release, values, file } = options;
  const chart = path.join(CHARTS, 'platform');
  const args = ['upgrade', '--install', release, chart, '--namespace', namespace];
  // On standard input: the values may contain passwords, which process lists must not show.
  const overrides = file ? ['--values', file] : [];
  await cluster.helm([...args, '--values', '-', ...overrides], JSON.stringify(values));
}

/** The secret that signs the tokens of the platform. */
export async function readTokenSecret(
  cluster: Cluster,
  { namespace, release }: Place,
): Promise<string> {
  const args = ['secret', `${release}-tokens`, '--namespace', namespace];
  const { data } = await cluster.read<{ readonly data: { readonly secret: string } }>(...args);
  return Buffer.from(data.secret, 'base64').toString();
}

/** The Deployments and StatefulSets of the platform. */
export async function readParts(cluster: Cluster, { namespace, release }: Place): Promise<Part[]> {
  const selector = `app.kubernetes.io/instance=${release}`;
  const args = ['deployments,statefulsets', '--namespace', namespace, '--selector', selector];
  const { items } = await cluster.read<{ readonly items: readonly Workload[] }>(...args);
  return items.map(({ metadata, spec, status }) => {
    const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, observedGeneration } = status;
    const counts = [replicas, updatedReplicas, readyReplicas];
    const isObserved = observedGeneration === metadata.generation;
    // The replicas of the version before are ready until they are replaced.
    const ready = Math.max(0, readyReplicas - (replicas - updatedReplicas));
    return {
      name: metadata.name.replace(`${release}-`, ''),
      wanted: spec.replicas,
      ready: isObserved ? ready : 0,
      settled: isObserved && counts.every((count) => count === spec.replicas),
    };
  });
}

export interface ReadyOptions extends Place {
  readonly seconds: number;
  readonly log: (line: string) => void;
  /** Shows which parts are missing. */
  readonly status: (line: string) => void;
}

/** Interval of reading why parts are missing. */
const DIAGNOSE_MS = 15_000;

/**
 * Waits until all parts are ready, and prints those that were not at once: the others did not change.
 *
 * @throws {Error} with diagnostics of the pods that are not ready within `seconds`
 */
export async function waitUntilReady(cluster: Cluster, options: ReadyOptions): Promise<void> {
  const { namespace, seconds, log, status } = options;
  const start = Date.now();
  let missing: readonly Part[] | undefined;
  let reason = '';
  let nextDiagnosis = start + DIAGNOSE_MS;
  try {
    await waitFor({ cluster, what: 'the pods', seconds }, async () => {
      const parts = await readParts(cluster, options);
      const settled = parts.filter((part) => part.settled);
      for (const { name, wanted } of settled) {
        if (!missing?.some((part) => part.name === name)) continue;
        const elapsed = ((Date.now() - start) / 1000).toFixed(1);
        log(`  ${name.padEnd(10)} ${wanted} ready after ${elapsed} s`);
      }
      if (parts.length > 0 && settled.length === parts.length) {
        if (!missing) log('Already running: nothing has changed');
        return true;
      }
      missing = parts.filter((part) => !part.settled);
      if (Date.now() > nextDiagnosis) {
        nextDiagnosis += DIAGNOSE_MS;
        reason = firstOf(await describeDiagnostics(cluster, namespace));
      }
      status(`  Waiting for ${describe(missing)}${reason}`);
      return undefined;
    });
  } catch (cause) {
    if (cluster.signal.aborted || !missing?.length) throw cause;
    const diagnostics = indent(`\n${await describeDiagnostics(cluster, namespace)}`);
    const message = `Not ready within ${seconds} s: ${describe(missing)}${diagnostics}`;
    throw new Error(message, { cause });
  }
}

/** The first object of a description that is not ending, in one line, without its log. */
function firstOf(diagnostics: string): string {
  const first = diagnostics.split(/\n(?! )/).find((one) => !/ is ending\n/.test(`${one}\n`));
  const [state = '', event = ''] = first?.split('\n') ?? [];
  if (state === '') return '';
  return event.startsWith('  last event') ? `: ${state},${event.slice(1)}` : `: ${state}`;
}

function describe(parts: readonly Part[]): string {
  return parts.map(({ name, ready, wanted }) => `${name} (${ready} of ${wanted})`).join(', ');
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

/**
 * Removes the platform, with `clean` its volumes too, and the namespace if `make up` created it and no
 * volume is left. Returns the names of the remaining volume claims.
 */
export async function removePlatform(
  cluster: Cluster,
  { namespace, release, clean }: Place & { readonly clean: boolean },
): Promise<string[]> {
  const place = ['--namespace', namespace];
  const claims = ['persistentvolumeclaims', ...place];
  claims.push('--selector', `app.kubernetes.io/instance=${release}`);
  if (await isInstalled(cluster, { namespace, release })) {
    await cluster.helm(['uninstall', release, ...place, '--wait', '--timeout', '120s']);
  }
  if (clean) await cluster.kubectl(['delete', ...claims]);
  const left = (await cluster.kubectl(['get', ...claims, '-o', 'name'])).trim();
  if (left !== '') return left.split('\n').map((name) => path.basename(name));
  const own = ['--selector', CREATED, '--field-selector', `metadata.name=${namespace}`];
  const timeouts = ['--request-timeout=0', '--timeout=120s'];
  await cluster.kubectl(['delete', 'namespaces', ...own, ...timeouts]);
  return [];
}

/** Whether the cluster has a default StorageClass that provisions volumes. */
export async function hasDefaultStorage(cluster: Cluster): Promise<boolean> {
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
