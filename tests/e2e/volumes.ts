import { type Node, waitFor } from '../../deploy/local/cluster/cluster.ts';
import { describeDiagnostics } from '../../deploy/local/cluster/diagnostics.ts';
import type { serviceImage } from '../../deploy/local/cluster/images.ts';
import { pickNodes } from './platform.ts';
import type { World } from './scenario.ts';
import { createSpace, removeSpace } from './space.ts';

/** The folder of a node that volumes are made in, where the cluster makes none itself. */
const FOLDER = '/var/lib/fw-e2e';
const CLASS = 'storageclass.kubernetes.io/is-default-class';

interface StorageClass {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly provisioner: string;
}

/**
 * Makes `count` volumes on a node that stays, where the default StorageClass makes none itself; they
 * and what was written to them are removed afterwards.
 */
export async function provideVolumes(world: World, count = 2): Promise<void> {
  const { cluster, space, say, afterwards } = world;
  const { items } = await cluster.read<{ readonly items: readonly StorageClass[] }>(
    'storageclasses',
  );
  const usual = items.find(({ metadata }) => metadata.annotations?.[CLASS] === 'true');
  if (usual && usual.provisioner !== 'kubernetes.io/no-provisioner') return;

  say('making volumes, because the cluster makes none itself');
  const nodes = await pickNodes(cluster);
  const [first] = await cluster.nodes();
  const node = nodes?.stays ?? first;
  if (!node) throw new Error('the cluster has no node: expected one or more');
  const names = Array.from({ length: count }, (_, index) => `${space.name}-${index}`);
  // A task of root is what Pod Security "restricted" refuses.
  const root = await createSpace({ cluster, name: 'volumes', podSecurity: 'privileged' });
  const folders = JSON.stringify(names.map((name) => `${FOLDER}/${name}`));
  afterwards(async (of) => {
    const here = { ...world, cluster: of };
    await runAsRoot(here, {
      namespace: root.name,
      name: 'remove',
      node,
      code: `for (const folder of ${folders}) fs.rmSync(folder, { recursive: true, force: true })`,
    });
    await removeSpace(of, root.name);
    await of.kubectl([
      'delete',
      'persistentvolumes',
      ...names,
      '--ignore-not-found',
      '--wait=false',
    ]);
  });
  await runAsRoot(world, {
    namespace: root.name,
    name: 'make',
    node,
    code: `for (const folder of ${folders}) fs.mkdirSync(folder, { recursive: true })`,
  });
  await cluster.apply(...names.map((name) => volumeOf(name, { node, of: usual })));
}

function volumeOf(name: string, { node, of }: { node: Node; of: StorageClass | undefined }) {
  const key = 'kubernetes.io/hostname';
  const values = [node.metadata.labels[key]];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      storageClassName: of?.metadata.name ?? '',
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
  readonly namespace: string;
  readonly name: string;
  readonly node: Node;
  /** A program for Node that uses `fs`. */
  readonly code: string;
}

/** Runs a task as root on a node, in the image of a service. */
async function runAsRoot(
  { cluster, settings }: World,
  { namespace, name, node, code }: TaskOptions,
) {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName: node.metadata.name,
      restartPolicy: 'Never',
      containers: [
        {
          name,
          image: probeImage(settings),
          command: ['node', '--eval', code],
          securityContext: { runAsUser: 0 },
          volumeMounts: [{ name: 'folder', mountPath: FOLDER }],
        },
      ],
      volumes: [{ name: 'folder', hostPath: { path: FOLDER, type: 'DirectoryOrCreate' } }],
    },
  });
  const what = `the pod that is to ${name} folders`;
  await waitFor({ cluster, what, seconds: 60 }, async () => {
    const { status } = await cluster.read<{ readonly status: { readonly phase: string } }>(
      ...['pod', name, '--namespace', namespace],
    );
    return status.phase === 'Succeeded' || undefined;
  }).catch(async (error) => {
    // It is not in the scenario's namespace, where one would look for the reason.
    const troubles = await describeDiagnostics(cluster, namespace);
    throw new Error(`${error.message}\n${troubles}`, { cause: error });
  });
}

/** The image that probes run in: the one of users, which has Node in it and is there anyway. */
export function probeImage(settings: Parameters<typeof serviceImage>[0]): string {
  const { imagePrefix, tag } = settings;
  return `${imagePrefix}fw-users:${tag || '0.1.0'}`;
}
