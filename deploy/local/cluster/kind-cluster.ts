import { requireFreePort } from '../processes/ports.ts';
import { buildImages } from './build-images.ts';
import {
  bringNodeImage,
  createKindCluster,
  hasKindCluster,
  loadImages,
  NODE_IMAGE,
  NODE_PORT,
} from './kind.ts';
import { kubeconfigFile } from './record.ts';
import { addressOf, type Ground, type GroundOptions, RELEASE } from './target-cluster.ts';
import { reasonOf } from './within.ts';

/** That kind's node image cannot be had: processes do without. */
export class NodeImageError extends Error {}

/**
 * Brings a cluster of kind, with the services' images on its node.
 *
 * @throws {NodeImageError} before anything is made, if the image of a node cannot be had
 */
export async function bringKind(options: GroundOptions): Promise<Ground> {
  const { folders, port, env, within, before, begin, say } = options;
  const name = before?.cluster ?? `fw-${port}`;
  if (!before) {
    await requireFreePort(port, 'the edge');
    await bringNode(options);
  }
  const there = await within(20, 'looking for clusters of kind', (signal) =>
    hasKindCluster(name, signal),
  );
  if (before && !there) throw new Error(`The kind cluster ${name} is gone: "make down" forgets it`);
  if (!before && there) {
    throw new Error(
      `There is a kind cluster ${name} that "make up" did not make here: ` +
        `remove it (kind delete cluster --name ${name}), or choose another PORT`,
    );
  }

  const images = await within(900, 'building the images', (signal) =>
    buildImages({ root: folders.root, env, signal }),
  );
  const record = before ?? {
    backend: 'kind' as const,
    cluster: name,
    namespace: 'fw',
    release: RELEASE,
    address: addressOf(port),
  };
  if (!before) {
    begin(record);
    say(`Making the kind cluster ${name}`);
    const kubeconfig = kubeconfigFile(folders.run);
    await within(300, `making the kind cluster ${name}`, (signal) =>
      createKindCluster({ name, port, kubeconfig, signal }),
    );
  }
  const names = [...images.map((image) => image.name), ...otherImages(env)];
  say(`Loading ${names.join(', ')}`);
  await within(300, 'loading the images', (signal) => loadImages(names, { name, signal }));
  const imageIds = Object.fromEntries(images.map(({ service, id }) => [service, id]));
  return { record, nodePort: NODE_PORT, imageIds };
}

/** Images that the user names: the node takes them from the Docker engine, not from a registry. */
function otherImages({ POSTGRES_IMAGE, VALKEY_IMAGE, NGINX_IMAGE }: NodeJS.ProcessEnv): string[] {
  return [POSTGRES_IMAGE, VALKEY_IMAGE, NGINX_IMAGE].filter((name) => name !== undefined);
}

async function bringNode({ within, say }: GroundOptions): Promise<void> {
  const [image] = NODE_IMAGE.split('@');
  say(`Looking for kind's node image ${image}`);
  try {
    await within(600, 'pulling it', bringNodeImage);
  } catch (error) {
    throw new NodeImageError(`kind's node image cannot be had: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}
