import {
  addressOf,
  type Cluster,
  isUsable,
  type Node,
  waitFor,
} from '../../deploy/local/cluster/cluster.ts';
import { imageValues, serviceImage } from '../../deploy/local/cluster/images.ts';
import { merge, type Values } from '../../deploy/local/cluster/values.ts';
import { issueToken } from '../../deploy/local/token.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { createApi } from '../contract/api.ts';
import type { Target } from '../contract/target.ts';
import { createRelease, type Release } from './release.ts';
import type { World } from './scenario.ts';
import type { Settings } from './settings.ts';

/** The name of the release, which all names begin with. */
const NAME = 'fw';

/** The platform as it is installed, and how to reach it from here. */
export interface Platform {
  readonly release: Release;
  /** The address of its edge. */
  readonly base: string;
  /** What tokens of reports are signed with. */
  readonly secret: string;
  readonly target: Target;
  /** The values that it was installed with. */
  readonly values: Values;
}

/** Values that make the platform reachable from here and need no volume. */
export function platformValues({ images, ...settings }: Settings): Values {
  const image = serviceImage({ images, ...settings });
  return {
    ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, { image }])),
    edge: { ...imageValues(images.edge), service: { type: 'NodePort' } },
    postgres: { ...imageValues(images.postgres), storage: { ephemeral: true } },
    valkey: imageValues(images.valkey),
  };
}

/** Installs the platform, and waits until its edge answers. */
export async function installPlatform(world: World, over: Values = {}): Promise<Platform> {
  const { cluster, settings, charts, space, say } = world;
  say('installing the platform');
  const release = createRelease({ cluster, charts, space, chart: 'platform', name: NAME });
  const values = merge(platformValues(settings), over);
  await release.install(values);
  const base = await edgeAddress(world, space.name);
  const secret = await readSecret(cluster, space.name);
  const newToken: Target['newToken'] = (tier = 'free') =>
    issueToken({ secret, user: `trial-${crypto.randomUUID()}`, tier, hours: 1 });
  return { release, base, secret, target: { api: createApi(base), newToken }, values };
}

/** The node that a scenario leaves alone, and the one that it takes away. */
export async function pickNodes(
  cluster: Cluster,
): Promise<{ stays: Node; goes: Node } | undefined> {
  const nodes = (await cluster.nodes()).filter(isUsable);
  const isControl = ({ metadata }: Node) =>
    'node-role.kubernetes.io/control-plane' in metadata.labels;
  const sorted = nodes.toSorted(
    (a, b) =>
      Number(isControl(b)) - Number(isControl(a)) || a.metadata.name.localeCompare(b.metadata.name),
  );
  const [stays, ...others] = sorted;
  const goes = others.at(-1);
  return stays && goes && !isControl(goes) ? { stays, goes } : undefined;
}

/** Says that the cluster has no second node, where it has none. */
export async function lacksSecondNode({
  cluster,
}: Pick<World, 'cluster'>): Promise<string | undefined> {
  if (await pickNodes(cluster)) return undefined;
  return 'the cluster has no second node that takes pods: expected two or more';
}

/** Values that keep what is there only once on the node that stays. */
export function keptOn({ metadata }: Node): Values {
  const nodeSelector = { 'kubernetes.io/hostname': metadata.labels['kubernetes.io/hostname'] };
  return { postgres: { nodeSelector }, valkey: { nodeSelector } };
}

async function edgeAddress(world: World, namespace: string): Promise<string> {
  const { cluster, settings } = world;
  const service = await cluster.read<{
    readonly spec: { readonly ports: readonly { readonly nodePort: number }[] };
  }>('service', `${NAME}-edge`, '--namespace', namespace);
  const nodes = await pickNodes(cluster);
  const [first] = await cluster.nodes();
  const node = nodes?.stays ?? first;
  const host = settings.nodeHost ?? (node ? addressOf(node) : 'localhost');
  const base = `http://${host}:${service.spec.ports[0]?.nodePort}`;
  const what = `an answer at ${base}, the port of a node: set NODE_HOST where nodes have another address for this machine`;
  await waitFor({ cluster, what, seconds: 20 }, async () => {
    const response = await fetch(base, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok || undefined;
  });
  return base;
}

async function readSecret(cluster: Cluster, namespace: string): Promise<string> {
  const { data } = await cluster.read<{ readonly data: { readonly secret: string } }>(
    ...['secret', `${NAME}-tokens`, '--namespace', namespace],
  );
  return Buffer.from(data.secret, 'base64').toString();
}
