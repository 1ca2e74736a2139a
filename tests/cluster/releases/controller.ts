import type { Cluster } from '../../../deploy/local/cluster/cluster.ts';
import type { World } from '../world.ts';

const NAMESPACE = 'argo-rollouts';
const MANIFEST = 'https://github.com/argoproj/argo-rollouts/releases/download/v1.10.1/install.yaml';

/**
 * Installs Argo Rollouts, and removes it after the tests, unless the cluster has it. `ROLLOUTS_MANIFEST` is
 * the file or the address of its objects, `ROLLOUTS_IMAGE` replaces the image in it.
 */
export async function ensureController({ cluster, log, onCleanUp }: World): Promise<void> {
  if (await hasController(cluster)) return;
  const { ROLLOUTS_MANIFEST, ROLLOUTS_IMAGE } = process.env;
  const manifest = ROLLOUTS_MANIFEST || MANIFEST;
  log(`installing Argo Rollouts from ${manifest}`);
  const inNamespace = ['--namespace', NAMESPACE];
  const missing = await findMissing(cluster, manifest);
  onCleanUp((current) => remove(current, missing));
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await cluster.kubectl(['apply', '--server-side', '--filename', manifest, ...inNamespace]);
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

async function hasController({ kubectl }: Cluster): Promise<boolean> {
  const name = 'rollouts.argoproj.io';
  const found = await kubectl(['get', 'crd', name, '--ignore-not-found', '--output=name']);
  return found !== '';
}

/**
 * The objects of the manifest, and its namespace, that the cluster does not have: only these are removed.
 * To remove a CustomResourceDefinition of the cluster would delete all objects of its kind.
 */
async function findMissing({ kubectl }: Cluster, manifest: string): Promise<string[]> {
  const list = async (...args: readonly string[]) => {
    const names = await kubectl([...args, '--namespace', NAMESPACE, '--output=name']);
    return names.split('\n').filter(Boolean);
  };
  const wanted = await list('create', '--dry-run=client', '--filename', manifest);
  wanted.push(`namespace/${NAMESPACE}`);
  const existing = await list('get', ...wanted, '--ignore-not-found');
  return wanted.filter((name) => !existing.includes(name));
}

async function remove({ kubectl }: Cluster, names: readonly string[]): Promise<void> {
  await kubectl([
    ...['delete', ...names, '--namespace', NAMESPACE, '--ignore-not-found'],
    ...['--wait=false', '--request-timeout=0'],
  ]);
}
