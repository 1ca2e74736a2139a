import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { describeDiagnostics } from '../../deploy/local/cluster/diagnostics.ts';
import type { Images } from '../../deploy/local/cluster/images.ts';
import { type Node, pickNodes } from './nodes.ts';
import { createNamespace, newName, removeNamespace, type World } from './world.ts';

/** The folder on the node that contains the volumes. */
const FOLDER = '/var/lib/fw-e2e';
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

interface StorageClass {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly provisioner: string;
}

/**
 * Creates `count` volumes in folders of the node that is kept, if the default StorageClass provisions
 * none. They and their data are removed after the tests.
 */
export async function provideVolumes(world: World, count = 1): Promise<void> {
  const { cluster, namespace, log, onCleanUp } = world;
  const { items } = await cluster.read<{ readonly items: readonly StorageClass[] }>(
    'storageclasses',
  );
  const standard = items.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true');
  if (standard && standard.provisioner !== 'kubernetes.io/no-provisioner') return;

  log('creating volumes, because the cluster does not provision any');
  const node = (await pickNodes(cluster)).stays;
  const names = Array.from({ length: count }, (_, index) => `${namespace}-${index}`);
  // Pod Security `restricted` rejects pods that run as root.
  const root = newName('volumes');
  await createNamespace(cluster, root, 'privileged');
  const folders = JSON.stringify(names.map((name) => `${FOLDER}/${name}`));
  onCleanUp(async (current) => {
    await runAsRoot(
      { ...world, cluster: current, namespace: root },
      {
        name: 'remove',
        node,
        code: `for (const folder of ${folders}) fs.rmSync(folder, { recursive: true, force: true })`,
      },
    );
    await removeNamespace(current, root);
    await current.kubectl([
      ...['delete', 'persistentvolumes', ...names, '--ignore-not-found', '--wait=false'],
    ]);
  });
  await runAsRoot(
    { ...world, namespace: root },
    {
      name: 'create',
      node,
      code: `for (const folder of ${folders}) fs.mkdirSync(folder, { recursive: true })`,
    },
  );
  const storageClassName = standard?.metadata.name ?? '';
  await cluster.apply(...names.map((name) => volumeOf(name, node, storageClassName)));
}

function volumeOf(name: string, node: Node, storageClassName: string) {
  const key = 'kubernetes.io/hostname';
  const values = [node.metadata.labels[key]];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      storageClassName,
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: `${FOLDER}/${name}` },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] },
      },
    },
  };
}

interface TaskOptions {
  readonly name: string;
  readonly node: Node;
  /** A script for Node.js that uses `fs`. */
  readonly code: string;
}

/** Runs a script as root on a node, in the image of a service, and waits until it exits. */
async function runAsRoot(
  { cluster, namespace, settings }: World,
  { name, node, code }: TaskOptions,
): Promise<void> {
  const container = {
    name,
    image: nodeImage(settings),
    command: ['node', '--eval', code],
    securityContext: { runAsUser: 0 },
    volumeMounts: [{ name: 'folder', mountPath: FOLDER }],
  };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName: node.metadata.name,
      restartPolicy: 'Never',
      containers: [container],
      volumes: [{ name: 'folder', hostPath: { path: FOLDER, type: 'DirectoryOrCreate' } }],
    },
  });
  const what = `the pod that runs "${name}" for the folders`;
  await waitFor({ cluster, what, seconds: 60 }, async () => {
    const { status } = await cluster.read<{ readonly status: { readonly phase: string } }>(
      ...['pod', name, '--namespace', namespace],
    );
    return status.phase === 'Succeeded' || undefined;
  }).catch(async (error: Error) => {
    // The diagnostics of a failed test do not cover this namespace.
    const diagnostics = await describeDiagnostics(cluster, namespace);
    throw new Error(`${error.message}\n${diagnostics}`, { cause: error });
  });
}

/** An image with Node.js that the cluster can pull: the one of users. */
export function nodeImage({ imagePrefix, tag }: Images): string {
  return `${imagePrefix}fw-users:${tag || '0.1.0'}`;
}
