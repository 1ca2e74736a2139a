import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { readStores } from '../processes/stores.ts';
import { passedOn } from '../processes/system.ts';
import { imageValues, readImages, serviceImage } from './images.ts';
import type { Values } from './values.ts';

export interface ClusterValuesOptions {
  /** Names images and stores as `make up` has them: see deploy/README.md. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether the cluster has nothing to make volumes of: the data then go with their pod. */
  readonly ephemeral: boolean;
  /** The port of every node that the edge is reached at. Default: none. */
  readonly nodePort?: number;
  /**
   * The contents of images that were loaded under their bare names, by their service: other contents
   * roll the pods. Without, the images are pulled from where `IMAGE_PREFIX` says.
   */
  readonly imageIds?: Readonly<Record<string, string>>;
}

/** The values that `make up` installs the platform with. */
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

  const [users, catalog, reports] = SERVICE_NAMES.map((name) => ({
    config: configOf(name, env),
    ...(imageIds?.[name] && { podAnnotations: { 'fw/image': imageIds[name] } }),
  }));
  // Kept nowhere but in the database that is named: the policy then lets out to its port alone.
  const data = DATABASE_URL && {
    store: { postgres: { url: DATABASE_URL, existingSecret: { name: '' } } },
    networkPolicy: { databaseTo: [] },
  };
  const counts = REDIS_URL && {
    rateLimit: { redis: { url: REDIS_URL, existingSecret: { name: '' } } },
    networkPolicy: { redisTo: [] },
  };
  return {
    global: { image: serviceImage(settings) },
    users: { ...users, ...data },
    catalog: { ...catalog, ...data },
    reports: { ...reports, ...counts },
    edge: {
      ...imageValues(images.edge),
      ...(nodePort && { service: { type: 'NodePort', nodePort } }),
    },
    postgres: {
      ...imageValues(images.postgres),
      enabled: !DATABASE_URL,
      storage: { ephemeral },
    },
    valkey: { ...imageValues(images.valkey), enabled: !REDIS_URL },
  };
}

/** The variables that `env` sets for a service, numbers as the chart wants them. */
function configOf(name: ServiceName, env: NodeJS.ProcessEnv): object {
  const entries = Object.entries(passedOn(name, env));
  return Object.fromEntries(
    entries.map(([key, text]) => [key, /^\d+$/.test(text) ? Number(text) : text]),
  );
}

/** @throws {Error} if the server at `address` is this machine, which a pod cannot mean */
function requireOutside(name: string, address: string | undefined): void {
  if (!address || !URL.canParse(address)) return;
  if (/^(localhost|127\..*|\[::1\]|)$/.test(new URL(address).hostname)) {
    throw new Error(`${name} names this machine: expected an address that pods can reach`);
  }
}
