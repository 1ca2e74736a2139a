import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { imageValues, serviceImage } from '../../deploy/local/cluster/images.ts';
import { readTokenSecret } from '../../deploy/local/cluster/platform.ts';
import { merge, type Values } from '../../deploy/local/cluster/values.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { createApi } from '../api.ts';
import { newUserToken, type Target } from '../target.ts';
import { addressOf, pickNodes, readNodes } from './nodes.ts';
import { createRelease, type Release } from './release.ts';
import type { World } from './scenario.ts';
import type { Settings } from './settings.ts';

/** The name of the release, the prefix of the names of its objects. */
const NAME = 'fw';

/** The installed platform. */
export interface Platform extends Pick<Target, 'api' | 'newToken'> {
  readonly release: Release;
  /** The address of the edge. */
  readonly base: string;
  /** The secret that signs tokens for reports. */
  readonly secret: string;
  /** The values of the installation. */
  readonly values: Values;
}

/** Values that give the edge a port on every node and need no volume. */
function platformValues(settings: Settings): Values {
  const { edge, postgres, valkey } = settings.images;
  const image = serviceImage(settings);
  return {
    ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, { image }])),
    edge: { ...imageValues(edge), service: { type: 'NodePort' } },
    postgres: { ...imageValues(postgres), storage: { ephemeral: true } },
    valkey: imageValues(valkey),
  };
}

/** Installs the platform with `overrides`, and waits until its edge responds. */
export async function installPlatform(world: World, overrides: Values = {}): Promise<Platform> {
  const { cluster, namespace, settings, log } = world;
  log('installing the platform');
  const release = createRelease(world, 'platform', NAME);
  const values = merge(platformValues(settings), overrides);
  await release.install(values);
  const base = await edgeAddress(world);
  const secret = await readTokenSecret(cluster, { namespace, release: NAME });
  const newToken: Platform['newToken'] = (tier) => newUserToken(secret, tier);
  return { release, base, secret, api: createApi(base), newToken, values };
}

async function edgeAddress({ cluster, namespace, settings }: World): Promise<string> {
  const { spec } = await cluster.read<{
    readonly spec: { readonly ports: readonly { readonly nodePort: number }[] };
  }>('service', `${NAME}-edge`, '--namespace', namespace);
  const node = (await pickNodes(cluster))?.stays ?? (await readNodes(cluster))[0];
  const host = settings.nodeHost ?? (node ? addressOf(node) : 'localhost');
  const base = `http://${host}:${spec.ports[0]?.nodePort}`;
  const what = `a response from ${base}, the port of a node; set NODE_HOST if this machine reaches the nodes at another address`;
  await waitFor({ cluster, what, seconds: 20 }, async () => {
    const response = await fetch(base, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok || undefined;
  });
  return base;
}
