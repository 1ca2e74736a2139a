import assert from 'node:assert/strict';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { imageValues, serviceImage } from '../../deploy/local/cluster/images.ts';
import { readTokenSecret } from '../../deploy/local/cluster/install.ts';
import { merge, type Values } from '../../deploy/local/cluster/values.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { createApi } from '../api/requests.ts';
import { newUserToken, type Target } from '../api/target.ts';
import { addressOf, pickNodes, readNodes } from './nodes.ts';
import { createRelease, type Release } from './release.ts';
import type { World } from './scenario.ts';
import type { Settings } from './settings.ts';

/** The name of the release, the prefix of the names of its objects. */
export const NAME = 'fw';

/** The installed platform. */
export interface Platform extends Pick<Target, 'api' | 'newToken'> {
  readonly release: Release;
  /** The address of the edge, or of the controller that precedes the services. */
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

/** Installs the platform with `overrides`, and waits until it responds, at its edge or at `address`. */
export async function installPlatform(
  world: World,
  overrides: Values = {},
  address?: string,
): Promise<Platform> {
  const { cluster, namespace, settings, log } = world;
  log('installing the platform');
  const release = createRelease(world, 'platform', NAME);
  const values = merge(platformValues(settings), overrides);
  await release.install(values);
  const base = address ?? (await edgeAddress(world));
  const secret = await readTokenSecret(cluster, { namespace, release: NAME });
  const newToken: Platform['newToken'] = (tier) => newUserToken(secret, tier);
  const platform = { release, base, secret, api: createApi(base), newToken, values };
  const what = `responses from ${base}; set NODE_HOST if this machine reaches the ports of nodes at another address`;
  await waitFor({ cluster, what, seconds: 90 }, () => assertResponds(platform));
  return platform;
}

/** New connections in a row: they reach every pod of the edge, or of the controller that precedes it. */
const CONNECTIONS = 20;

/**
 * Asserts that every pod of the edge or of a controller forwards requests: twenty new connections in a row get
 * a response of each service. A pod that has just started may be ready before it knows all services.
 */
export async function assertResponds({
  base,
  newToken,
  values,
}: Pick<Platform, 'base' | 'newToken' | 'values'>): Promise<true> {
  const headers = { authorization: `Bearer ${newToken()}`, connection: 'close' };
  const installed = SERVICE_NAMES.filter((name) => (values[name] as Values).enabled !== false);
  const paths = ['/', ...installed.map((name) => `/api/v2/${name}?limit=1`)];
  for (const path of Array.from({ length: CONNECTIONS }, () => paths).flat()) {
    const response = await fetch(base + path, { headers, signal: AbortSignal.timeout(10_000) });
    const text = await response.text();
    assert.equal(response.status, 200, `GET ${path} returned ${response.status}: ${text}`);
  }
  return true;
}

/** The address at which this machine reaches the ports of a node. */
export async function nodeHost({ cluster, settings }: World): Promise<string> {
  const node = (await pickNodes(cluster))?.stays ?? (await readNodes(cluster))[0];
  return settings.nodeHost ?? (node ? addressOf(node) : 'localhost');
}

/** The address of the edge: of its last port, which is that of TLS if it has a certificate. */
async function edgeAddress(world: World): Promise<string> {
  const { cluster, namespace } = world;
  const { spec } = await cluster.read<{
    readonly spec: { readonly ports: readonly { name: string; nodePort: number }[] };
  }>('service', `${NAME}-edge`, '--namespace', namespace);
  const port = spec.ports.at(-1);
  return `${port?.name}://${await nodeHost(world)}:${port?.nodePort}`;
}
