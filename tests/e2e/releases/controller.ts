import type { Cluster } from '../../../deploy/local/cluster/cluster.ts';
import type { World } from '../scenario.ts';

const NAMESPACE = 'argo-rollouts';
const MANIFEST = 'https://github.com/argoproj/argo-rollouts/releases/download/v1.10.1/install.yaml';

/**
 * Installs Argo Rollouts, and removes it after the scenario, unless the cluster has it. `ROLLOUTS_MANIFEST` is
 * the file or the address of its objects, `ROLLOUTS_IMAGE` replaces the image in it.
 */
export async function ensureController({ cluster, log, onCleanUp }: World): Promise<void> {
  if (await hasController(cluster)) return;
  const { ROLLOUTS_MANIFEST, ROLLOUTS_IMAGE } = process.env;
  const manifest = ROLLOUTS_MANIFEST || MANIFEST;
  log(`installing Argo Rollouts from ${manifest}`);
  const inNamespace = ['--namespace', NAMESPACE];
  onCleanUp((current) => remove(current, manifest));
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

async function remove({ kubectl }: Cluster, manifest: string): Promise<void> {
  await kubectl([
    ...['delete', '--filename', manifest, '--namespace', NAMESPACE, '--ignore-not-found'],
    ...['--wait=false', '--request-timeout=0'],
  ]);
  await kubectl(['delete', 'namespace', NAMESPACE, '--ignore-not-found', '--wait=false']);
}
