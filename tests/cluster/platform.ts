import assert from 'node:assert/strict';
import path from 'node:path';

import { type Cluster, waitFor } from '../../deploy/local/cluster/cluster.ts';
import { imageValues, serviceImage } from '../../deploy/local/cluster/images.ts';
import { SERVICE_NAMES, SERVICES } from '../../services/services.ts';
import { createApi } from '../api/requests.ts';
import { newUserToken, type Target } from '../api/target.ts';
import { nodeHost } from './nodes.ts';
import type { Settings } from './settings.ts';
import { merge, type Values } from './values.ts';
import type { World } from './world.ts';

const CHARTS = path.resolve(import.meta.dirname, '../../deploy/charts');

/** How long helm waits for the pods. */
const WAIT = ['--wait', '--timeout', '180s'];

/** A Helm release in the namespace of the tests. */
export interface Release {
  readonly name: string;
  /** Installs the chart, or upgrades it to these values, and waits until all pods are ready. */
  put(values: Values): Promise<void>;
  /** The number of the current revision; the first is 1. */
  revision(): Promise<number>;
  rollback(revision: number): Promise<void>;
  /** Runs the tests of the chart. */
  test(): Promise<void>;
  uninstall(): Promise<void>;
}

/** A release of `chart`, which `put` installs. */
export function createRelease(
  { cluster, namespace }: Pick<World, 'cluster' | 'namespace'>,
  chart: string,
  name = chart,
): Release {
  const where = ['--namespace', namespace];
  const helm = async (...args: readonly string[]) => void (await cluster.helm([...args, ...where]));
  return {
    name,
    async put(values) {
      const input = JSON.stringify(values);
      const args = ['upgrade', '--install', name, path.join(CHARTS, chart), '--values', '-'];
      // Helm 4 cannot read the status of a Rollout of Argo Rollouts: it would wait until the time-out.
      const isRollout = input.includes('progressiveDelivery');
      const wait = isRollout ? ['--wait=legacy', ...WAIT.slice(1)] : WAIT;
      await cluster.helm([...args, ...where, ...wait], input);
    },
    async revision() {
      const status = await cluster.helm(['status', name, ...where, '--output', 'json']);
      return JSON.parse(status).version;
    },
    rollback: (revision) => helm('rollback', name, String(revision), ...WAIT),
    test: () => helm('test', name, '--timeout', '180s', '--logs'),
    uninstall: () => helm('uninstall', name, ...WAIT),
  };
}

/** The name of the release of the platform, the prefix of the names of its objects. */
export const NAME = 'fw';

/** The installed platform. */
export interface Platform extends Pick<Target, 'api' | 'newToken'> {
  readonly release: Release;
  /** The address of the edge, or of the controller that precedes the services. */
  readonly base: string;
  /** The secret that signs tokens for reports. */
  readonly secret: string;
  /** The values of the current revision. */
  values: Values;
  /** Changes these values, and keeps all others. */
  upgrade(changes: Values): Promise<void>;
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
  const values = merge(defaultValues(settings), overrides);
  await release.put(values);
  const base = address ?? (await nodeAddress(world, `${NAME}-edge`));
  const secret = await readTokenSecret(cluster, namespace);
  const platform: Platform = {
    ...{ release, base, secret, api: createApi(base), values },
    newToken: (tier) => newUserToken(secret, tier),
    async upgrade(changes) {
      const changed = merge(platform.values, changes);
      await release.put(changed);
      platform.values = changed;
    },
  };
  const what = `responses from ${base}; set NODE_HOST if this machine reaches the ports of nodes at another address`;
  await waitFor({ cluster, what, seconds: 90 }, () => assertResponds(platform));
  return platform;
}

/** The same values for every service. */
export function forAllServices(values: Values): Values {
  return Object.fromEntries(SERVICE_NAMES.map((name) => [name, values]));
}

/** A log line per request needs more CPU time than the request. */
export const QUIET = forAllServices({ config: { LOG_LEVEL: 'warn' } });

/** The secret that signs the tokens of the platform. */
async function readTokenSecret(cluster: Cluster, namespace: string): Promise<string> {
  const { data } = await cluster.read<{ readonly data: { readonly secret: string } }>(
    ...['secret', `${NAME}-tokens`, '--namespace', namespace],
  );
  return Buffer.from(data.secret, 'base64').toString();
}

/** Values that give the edge a port on every node and need no volume. */
function defaultValues(settings: Settings): Values {
  const { edge, postgres, valkey } = settings.images;
  return {
    ...forAllServices({ image: serviceImage(settings) }),
    edge: { ...imageValues(edge), service: { type: 'NodePort' } },
    trial: {
      postgres: { ...imageValues(postgres), persistence: { enabled: false } },
      valkey: imageValues(valkey),
    },
  };
}

/** New connections in a row: they reach every pod of the edge, or of the controller that precedes it. */
const CONNECTIONS = 20;

/**
 * Asserts that every pod of the edge or of a controller forwards requests: twenty new connections in a row get
 * a response of each service. A pod that has just started may be ready before it knows all services.
 */
export async function assertResponds({ base, newToken }: Platform, page = ['/']): Promise<true> {
  const headers = { authorization: `Bearer ${newToken()}`, connection: 'close' };
  const lists = SERVICES.map(({ name, versions }) => `/api/${versions.at(-1)}/${name}?limit=1`);
  const targets = [...page, ...lists];
  for (const target of Array.from({ length: CONNECTIONS }, () => targets).flat()) {
    const response = await fetch(base + target, { headers, signal: AbortSignal.timeout(10_000) });
    const text = await response.text();
    assert.equal(response.status, 200, `GET ${target} returned ${response.status}: ${text}`);
  }
  return true;
}

/** The address of a Service with a port on every node. */
export async function nodeAddress(world: World, service: string): Promise<string> {
  const { cluster, namespace } = world;
  const { spec } = await cluster.read<{
    readonly spec: { readonly ports: readonly { readonly nodePort: number }[] };
  }>('service', service, '--namespace', namespace);
  return `http://${await nodeHost(world)}:${spec.ports[0]?.nodePort}`;
}
