import { SERVICES, type ServiceName } from '../../../services/services.ts';
import { readStores } from '../processes/stores.ts';
import { passedOn } from '../processes/system.ts';
import { imageValues, readImages, serviceImage } from './images.ts';
import type { Values } from './values.ts';

export interface ClusterValuesOptions {
  /** The variables of deploy/README.md. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether the cluster has no volumes: the data is then deleted with its pod. */
  readonly ephemeral: boolean;
  /** The port of every node that leads to the edge. Default: none. */
  readonly nodePort?: number;
  /**
   * The ids of images that were loaded onto the nodes, by service; a changed id restarts the pods.
   * Without them, nodes pull the images from `IMAGE_PREFIX`.
   */
  readonly imageIds?: Readonly<Record<string, string>>;
}

/** The values with which `make up` installs the platform. */
export function clusterValues(options: ClusterValuesOptions): Values {
  const { env, ephemeral, nodePort, imageIds } = options;
  const settings = readImages({
    ...env,
    TAG: env.TAG || 'dev',
    ...(imageIds && { IMAGE_PREFIX: '' }),
  });
  const { images } = settings;
  const { DATABASE_URL, REDIS_URL } = readStores(env);
  requireOutside('DATABASE_URL', DATABASE_URL);
  requireOutside('REDIS_URL', REDIS_URL);

  // An empty list of peers allows egress to any address at the port of the server.
  const database = DATABASE_URL && {
    store: { postgres: { url: DATABASE_URL, existingSecret: { name: '' } } },
    networkPolicy: { databaseTo: [] },
  };
  const counters = REDIS_URL && {
    rateLimit: { redis: { url: REDIS_URL, existingSecret: { name: '' } } },
    networkPolicy: { redisTo: [] },
  };
  // On one small node, the requests of the charts leave no room for the pods of an upgrade.
  const requests = imageIds && { resources: { requests: { cpu: '20m' } } };
  const services = SERVICES.map(({ name, store }) => [
    name,
    {
      image: serviceImage(settings),
      config: configOf(name, env),
      ...(imageIds?.[name] && { podAnnotations: { 'fw/image': imageIds[name] } }),
      ...requests,
      ...(store === 'database' ? database : counters),
    },
  ]);
  return {
    ...Object.fromEntries(services),
    edge: {
      ...imageValues(images.edge),
      ...requests,
      ...(nodePort && { service: { type: 'NodePort', nodePort } }),
    },
    postgres: {
      ...imageValues(images.postgres),
      ...requests,
      enabled: !DATABASE_URL,
      storage: { ephemeral },
    },
    valkey: { ...imageValues(images.valkey), ...requests, enabled: !REDIS_URL },
  };
}

/** The variables of a service that are set in `env`; numbers as numbers, as the chart expects. */
function configOf(name: ServiceName, env: NodeJS.ProcessEnv): object {
  const entries = Object.entries(passedOn(name, env));
  return Object.fromEntries(
    entries.map(([key, text]) => [key, /^\d+$/.test(text) ? Number(text) : text]),
  );
}

/** @throws {Error} if `address` is on this machine, which pods cannot reach */
function requireOutside(name: string, address: string | undefined): void {
  if (!address || !URL.canParse(address)) return;
  if (/^(localhost|127\..*|\[::1\]|)$/.test(new URL(address).hostname)) {
    throw new Error(`${name} names this machine: expected an address that pods can reach`);
  }
}
