import fs from 'node:fs';
import path from 'node:path';
import { requireFreePort } from '../processes/ports.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { isInstalled } from './platform.ts';
import { clusterOf, kubeconfigFile } from './record.ts';
import { addressOf, type Ground, type GroundOptions, RELEASE } from './target-cluster.ts';
import { reasonOf } from './within.ts';

/** How long a cluster may take to answer, in seconds. */
const ANSWER_SECONDS = 20;

/** What has to be allowed in the namespace, beside what comes with it. */
const KINDS = [
  'deployments.apps',
  'statefulsets.apps',
  'secrets',
  'networkpolicies.networking.k8s.io',
];

/**
 * Takes the cluster that KUBECONFIG names.
 *
 * @throws {Error} if there is none, it does not answer, or it does not allow what is needed
 */
export async function takeKubeconfig(options: GroundOptions): Promise<Ground> {
  const { folders, port, env, within, before, begin } = options;
  if (!before) {
    await requireFreePort(port, 'the edge');
    await freeze(options);
  }
  return within(3 * ANSWER_SECONDS, 'asking the cluster', async (signal) => {
    const cluster = clusterOf(folders.run, signal);
    const name = (await cluster.kubectl(['config', 'current-context'])).trim();
    await requireAnswer(cluster, name);
    const record = before ?? {
      backend: 'kubeconfig' as const,
      cluster: name,
      namespace: env.NAMESPACE || 'fw',
      release: RELEASE,
      address: addressOf(port),
    };
    await requireRights(cluster, record);
    if (!before) {
      if (await isInstalled(cluster, record)) {
        throw new Error(
          `${name} has a release ${RELEASE} in ${record.namespace} that "make up" did not install ` +
            'here: choose another NAMESPACE, or uninstall it',
        );
      }
      begin(record);
    }
    return { record };
  });
}

/** Keeps what KUBECONFIG says of its current context: it may say something else tomorrow. */
async function freeze({ folders, env, within }: GroundOptions): Promise<void> {
  if (!env.KUBECONFIG) {
    throw new Error('KUBECONFIG is not set: expected the file that names a cluster');
  }
  const missing = env.KUBECONFIG.split(path.delimiter).find((file) => !fs.existsSync(file));
  if (missing) throw new Error(`KUBECONFIG names ${missing}, which is not there`);
  const text = await within(ANSWER_SECONDS, 'reading KUBECONFIG', (signal) =>
    createCluster(signal, env).kubectl(['config', 'view', '--minify', '--flatten', '--raw']),
  );
  fs.mkdirSync(folders.run, { recursive: true });
  fs.writeFileSync(kubeconfigFile(folders.run), text, { mode: 0o600 });
}

async function requireAnswer(cluster: Cluster, name: string): Promise<void> {
  try {
    await cluster.kubectl(['version', `--request-timeout=${ANSWER_SECONDS}s`]);
  } catch (error) {
    cluster.signal.throwIfAborted();
    throw new Error(`Cannot reach the cluster ${name}: ${reasonOf(error)}`, { cause: error });
  }
}

async function requireRights(
  cluster: Cluster,
  { cluster: name, namespace }: { readonly cluster: string; readonly namespace: string },
): Promise<void> {
  for (const kind of KINDS) {
    // It ends with 1 where the answer is no.
    const args = ['auth', 'can-i', 'create', kind, '--namespace', namespace];
    const answer = await cluster.kubectl(args).catch(() => 'no');
    cluster.signal.throwIfAborted();
    if (answer.trim() === 'yes') continue;
    throw new Error(`Cannot install on ${name}: you may not create ${kind} in ${namespace} there`);
  }
}
