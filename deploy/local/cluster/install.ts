import fs from 'node:fs';
import path from 'node:path';

import { SERVICE_NAMES, SERVICES, type ServiceName } from '../../../services/services.ts';
import { passedOn } from '../service-variables.ts';
import { keepSecret } from '../token.ts';
import { type Cluster, createCluster, waitFor } from './cluster.ts';
import { describeDiagnostics } from './diagnostics.ts';
import { imageValues, readImages, serviceImage } from './images.ts';
import { type KindOptions, kubeconfigFile, NODE_PORT } from './kind.ts';

/** Values of a chart. */
type Values = Readonly<Record<string, unknown>>;

/** The namespace and the name of the Helm release. */
export const PLACE = { namespace: 'fw', release: 'platform' } as const;

const CHARTS = path.resolve(import.meta.dirname, '../../charts');
const CHART = path.join(CHARTS, 'platform');
const SCHEMA = path.join(CHARTS, 'common/values.schema.json');

/** kubectl and helm for the kind cluster of this checkout, regardless of the current KUBECONFIG. */
export function clusterOf(run: string, signal: AbortSignal): Cluster {
  return createCluster(signal, { ...process.env, KUBECONFIG: kubeconfigFile(run) });
}

/**
 * The values with which `make up` installs the platform on a kind cluster, from the variables of
 * deploy/README.md. A changed id of an image restarts the pods of its service.
 *
 * @throws {Error} naming a variable that is invalid
 */
export function platformValues(
  env: NodeJS.ProcessEnv,
  imageIds: Readonly<Record<string, string>> = {},
): Values {
  const settings = readImages({ ...env, IMAGE_PREFIX: '', TAG: env.TAG || 'dev' });
  const { images } = settings;
  const { DATABASE_URL, REDIS_URL } = env;
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
  const requests = { resources: { requests: { cpu: '20m' } } };
  const services = SERVICES.map(({ name, store }) => [
    name,
    {
      image: serviceImage(settings),
      config: configOf(name, env),
      podAnnotations: { 'fw/image': imageIds[name] ?? '' },
      ...requests,
      ...(store === 'database' ? database : counters),
    },
  ]);
  return {
    ...Object.fromEntries(services),
    edge: {
      ...imageValues(images.edge),
      ...requests,
      service: { type: 'NodePort', nodePort: NODE_PORT },
    },
    postgres: { ...imageValues(images.postgres), ...requests, enabled: !DATABASE_URL },
    valkey: { ...imageValues(images.valkey), ...requests, enabled: !REDIS_URL },
  };
}

/**
 * The variables that `make up` passes on, except those that the chart sets from other values; numbers as numbers,
 * as its schema expects.
 */
function configOf(name: ServiceName, env: NodeJS.ProcessEnv): object {
  const { properties } = JSON.parse(fs.readFileSync(SCHEMA, 'utf8'));
  const isOfChart = (key: string) => properties.config.properties[key]?.const !== undefined;
  const entries = Object.entries(passedOn(name, env)).filter(([key]) => !isOfChart(key));
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
  keepSecret(folders.run, await readTokenSecret(cluster, PLACE));
  await waitForResponses(address, { cluster, seconds });
}

/** The secret that signs the tokens of the platform. */
export async function readTokenSecret(
  cluster: Cluster,
  { namespace, release }: { readonly namespace: string; readonly release: string },
): Promise<string> {
  const args = ['secret', `${release}-tokens`, '--namespace', namespace];
  const { data } = await cluster.read<{ readonly data: { readonly secret: string } }>(...args);
  return Buffer.from(data.secret, 'base64').toString();
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
