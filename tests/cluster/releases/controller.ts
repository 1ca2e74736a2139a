import type { Cluster } from '../../../deploy/local/cluster/cluster.ts';
import type { World } from '../world.ts';

const NAMESPACE = 'argo-rollouts';
const MANIFEST = 'https://github.com/argoproj/argo-rollouts/releases/download/v1.10.1/install.yaml';

/**
 * Installs Argo Rollouts, and removes it after the tests, unless the cluster has it. `ROLLOUTS_MANIFEST` is
 * the file or the address of its objects, `ROLLOUTS_IMAGE` replaces the image in it.
 */
export async function ensureController(world: World): Promise<void> {
  const { ROLLOUTS_MANIFEST, ROLLOUTS_IMAGE } = process.env;
  const { cluster } = world;
  const isNew = await ensureObjects(world, {
    kind: 'rollouts.argoproj.io',
    manifest: ROLLOUTS_MANIFEST || MANIFEST,
    namespace: NAMESPACE,
  });
  if (!isNew) return;
  const inNamespace = ['--namespace', NAMESPACE];
  if (ROLLOUTS_IMAGE) {
    const containers = [
      { name: 'argo-rollouts', image: ROLLOUTS_IMAGE, imagePullPolicy: 'IfNotPresent' },
    ];
    const patch = JSON.stringify({ spec: { template: { spec: { containers } } } });
    await cluster.kubectl(['patch', 'deployment/argo-rollouts', '--patch', patch, ...inNamespace]);
  }
  await cluster.kubectl([
    ...['rollout', 'status', 'deployment/argo-rollouts', '--timeout=120s', '--request-timeout=0'],
    ...inNamespace,
  ]);
}

/** Objects for the whole cluster. */
export interface Manifest {
  /** A CustomResourceDefinition among them: the cluster has all if it has this one. */
  readonly kind: string;
  /** Their file or address. */
  readonly manifest: string;
  /** For those that are in a namespace. */
  readonly namespace: string;
}

/** Creates objects that the cluster does not have, and removes them after the tests; returns whether it did. */
export async function ensureObjects(world: World, options: Manifest): Promise<boolean> {
  const { cluster, log, onCleanUp } = world;
  const { kind, manifest, namespace } = options;
  if (await cluster.kubectl(['get', 'crd', kind, '--ignore-not-found', '--output=name'])) {
    return false;
  }
  log(`installing ${manifest}`);
  const missing = await findMissing(cluster, options);
  onCleanUp((current) => remove(current, missing, namespace));
  if (missing.includes(`namespace/${namespace}`)) {
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  const inNamespace = ['--namespace', namespace];
  await cluster.kubectl(['apply', '--server-side', '--filename', manifest, ...inNamespace]);
  return true;
}

/**
 * The objects of the manifest, and its namespace, that the cluster does not have: only these are removed.
 * To remove a CustomResourceDefinition of the cluster would delete all objects of its kind.
 */
async function findMissing(
  { kubectl }: Cluster,
  { manifest, namespace }: Manifest,
): Promise<string[]> {
  const list = async (...args: readonly string[]) => {
    const names = await kubectl([...args, '--namespace', namespace, '--output=name']);
    return names.split('\n').filter(Boolean);
  };
  const wanted = await list('create', '--dry-run=client', '--filename', manifest);
  wanted.push(`namespace/${namespace}`);
  const existing = await list('get', ...wanted, '--ignore-not-found');
  return wanted.filter((name) => !existing.includes(name));
}

async function remove({ kubectl }: Cluster, names: readonly string[], namespace: string) {
  await kubectl([
    ...['delete', ...names, '--namespace', namespace, '--ignore-not-found'],
    ...['--wait=false', '--request-timeout=0'],
  ]);
}
