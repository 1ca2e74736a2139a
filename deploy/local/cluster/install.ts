import path from 'node:path';

import { SERVICE_NAMES, SERVICES, type ServiceName } from '../../../services/services.ts';
import { needsTokens, passedOn } from '../service-variables.ts';
import { type Cluster, createCluster, waitFor } from './cluster.ts';
import { describeDiagnostics } from './diagnostics.ts';
import { imageValues, readImages, serviceImage } from './images.ts';
import { type KindOptions, kubeconfigFile, NODE_PORT } from './kind.ts';

/** Values of a chart. */
type Values = Readonly<Record<string, unknown>>;

/** The namespace and the name of the Helm release. */
export const PLACE = { namespace: 'fw', release: 'platform' } as const;

const CHART = path.resolve(import.meta.dirname, '../../charts/platform');

/** kubectl and helm for the kind cluster of this checkout, regardless of the current KUBECONFIG. */
export function clusterOf(run: string, signal: AbortSignal): Cluster {
  return createCluster(signal, { ...process.env, KUBECONFIG: kubeconfigFile(run) });
}

/** What `make up` has created before it installs the platform. */
export interface Created {
  /** A digest of the image of each service: a changed one restarts its pods. */
  readonly imageIds?: Readonly<Record<string, string>>;
  /** Signs the tokens. */
  readonly tokenSecret?: string;
}

/** Values of a service that uses a server outside the cluster. */
interface External {
  readonly secrets?: object;
  readonly networkPolicy?: object;
}

/** Peers of a NetworkPolicy: a server outside the cluster may have any address. */
const ANY_ADDRESS = ['0.0.0.0/0', '::/0'].map((cidr) => ({ ipBlock: { cidr } }));

/**
 * The values with which `make up` installs the platform on a kind cluster, from the variables of
 * deploy/README.md.
 *
 * @throws {Error} naming a variable that is invalid
 */
export function platformValues(
  env: NodeJS.ProcessEnv,
  { imageIds = {}, tokenSecret = '' }: Created = {},
): Values {
  const settings = readImages({ ...env, IMAGE_PREFIX: '', TAG: env.TAG || 'dev' });
  const { images } = settings;
  const { DATABASE_URL, REDIS_URL } = env;
  const external = {
    database: outside('DATABASE_URL', DATABASE_URL, 5432),
    counters: outside('REDIS_URL', REDIS_URL, 6379),
  };
  // On one small node, the requests of the charts leave no room for the pods of an upgrade.
  const requests = { resources: { requests: { cpu: '20m' } } };
  const timeoutSeconds = Math.ceil(Number(env.REQUEST_TIMEOUT_MS || 0) / 1_000);
  const services = SERVICES.map(({ name, store }) => {
    const { secrets, ...networkPolicy } = external[store];
    const token = needsTokens(name, env) && {
      JWT_SECRET: { existingSecret: '', value: tokenSecret },
    };
    const values = {
      image: serviceImage(settings),
      config: configOf(name, env),
      podAnnotations: { 'fw/image': imageIds[name] ?? '' },
      secrets: { ...secrets, ...token },
      ...networkPolicy,
      ...(timeoutSeconds > 0 && { requestTimeoutSeconds: timeoutSeconds }),
      ...requests,
    };
    return [name, values];
  });
  return {
    ...Object.fromEntries(services),
    edge: {
      ...imageValues(images.edge),
      ...requests,
      service: { type: 'NodePort', nodePort: NODE_PORT },
      ...(timeoutSeconds > 0 && { requestTimeoutSeconds: timeoutSeconds + 10 }),
    },
    trial: {
      enabled: !(DATABASE_URL && REDIS_URL),
      postgres: { ...imageValues(images.postgres), ...requests },
      valkey: { ...imageValues(images.valkey), ...requests },
    },
  };
}

/** Variables that other values of the chart set. */
const OF_CHART =
  /^(DATABASE_URL|REDIS_URL|JWT_\w+|REQUEST_TIMEOUT_MS|DRAIN_TIMEOUT_MS|SERVICE_VERSION)$/;

/** The variables that `make up` passes on, except those that other values of the chart set. */
function configOf(name: ServiceName, env: NodeJS.ProcessEnv): object {
  const entries = Object.entries(passedOn(name, env)).filter(([key]) => !OF_CHART.test(key));
  return Object.fromEntries(entries);
}

/**
 * The values of a service that uses the server at `address`; none without an address.
 *
 * @throws {Error} if the address is on this machine, which pods cannot reach
 */
function outside(name: string, address: string | undefined, defaultPort: number): External {
  if (!address) return {};
  const url = URL.parse(address);
  if (url && /^(localhost|127\..*|\[::1\]|)$/.test(url.hostname)) {
    throw new Error(`${name} names this machine: expected an address that pods can reach`);
  }
  const server = { to: ANY_ADDRESS, ports: [Number(url?.port || defaultPort)] };
  return {
    secrets: { [name]: { existingSecret: '', value: address } },
    networkPolicy: { egress: { [name === 'REDIS_URL' ? 'counters' : 'database']: server } },
  };
}

/**
 * Installs or upgrades the platform, and waits until it responds at `address`.
 *
 * @throws {Error} with the events and logs of the pods that do not become ready within `TIMEOUT`
 */
export async function installPlatform(
  values: Values,
  address: string,
  { folders, env, log, signal }: KindOptions,
): Promise<void> {
  const { namespace, release } = PLACE;
  const cluster = clusterOf(folders.run, signal);
  const seconds = readSeconds(env.TIMEOUT);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels },
  });

  log(`Installing the charts into the namespace ${namespace}, for at most ${seconds} s`);
  const args = [
    ...['upgrade', '--install', release, CHART, '--namespace', namespace, '--wait'],
    ...['--timeout', `${seconds}s`, '--values', '-'],
    ...(env.VALUES ? ['--values', env.VALUES] : []),
  ];
  try {
    // On standard input: the values may contain passwords, which process lists must not show.
    await cluster.helm(args, JSON.stringify(values));
  } catch (cause) {
    signal.throwIfAborted();
    const diagnostics = await describeDiagnostics(cluster, namespace);
    throw new Error(`${(cause as Error).message}\n${diagnostics}`.trimEnd(), { cause });
  }
  await waitForResponses(address, { cluster, seconds });
}

/**
 * Waits until the edge and all services respond: after a restart of the node, pods are listed as ready until
 * the kubelet has checked them.
 */
async function waitForResponses(
  address: string,
  wait: { readonly cluster: Cluster; readonly seconds: number },
): Promise<void> {
  const paths = ['/', ...SERVICE_NAMES.map((name) => `/docs/${name}`)];
  await waitFor({ ...wait, what: `responses from ${address}` }, async () => {
    const responses = paths.map(async (path) => {
      const response = await fetch(address + path, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      return response.status;
    });
    return (await Promise.all(responses)).every((status) => status < 500) || undefined;
  });
}

/** Time for the pods to become ready. */
function readSeconds(text = ''): number {
  const seconds = Number(text || 300);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new Error(`TIMEOUT is "${text}": expected a whole number of seconds`);
}
