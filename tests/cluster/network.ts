import assert from 'node:assert/strict';

import { type Cluster, waitFor } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import { SERVICE_NAMES, SERVICES } from '../../services/services.ts';
import { podsOf } from './pods.ts';
import type { Settings } from './settings.ts';
import { nodeImage } from './volumes.ts';
import { createNamespace, newName, removeNamespace, type World } from './world.ts';

/** The ports of pods that the probes call, by part. */
const PORTS: Readonly<Record<string, number>> = {
  edge: 8080,
  ...Object.fromEntries(
    SERVICE_NAMES.flatMap((name) => [
      [name, 8080],
      [`${name} health`, 9090],
    ]),
  ),
  postgres: 5432,
  valkey: 6379,
};

const STORES = { database: 'postgres', counters: 'valkey' };

/** Allowed calls of each part. The client is a pod without the labels of the platform. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  edge: [...SERVICE_NAMES, 'DNS'],
  ...Object.fromEntries(
    SERVICES.map(({ name, calls, store }) => [name, [...calls, STORES[store], 'DNS']]),
  ),
  postgres: [],
  valkey: [],
  client: ['edge', 'Kubernetes', 'DNS'],
  'client in another namespace': ['edge', 'Kubernetes', 'DNS'],
};

/** What a probe calls: a TCP port, or a name to look up if there is no port. */
interface Address {
  readonly name: string;
  readonly host: string;
  readonly port?: number;
}

/** What a probe calls, and the names of what it may reach. */
interface Calls {
  readonly addresses: readonly Address[];
  readonly allowed: readonly string[];
}

/** Calls every part from every part and from other pods; returns what differs from `ALLOWED`. */
export async function findWrongCalls(world: World): Promise<string[]> {
  const { cluster, namespace, log, onCleanUp } = world;
  const other = newName('other');
  onCleanUp((current) => removeNamespace(current, other));
  await createNamespace(cluster, other);
  const addresses = await readAddresses(world);

  const wrong: string[] = [];
  for (const [part, allowed] of Object.entries(ALLOWED)) {
    log(`calling every part from ${part}`);
    // Requests of a pod to itself do not leave it.
    const others = addresses.filter(({ name }) => name.split(' ')[0] !== part);
    const calls = { addresses: others, allowed };
    const reached = part.startsWith('client')
      ? await probeFromNewPod(world, part === 'client' ? namespace : other, calls)
      : await probeFromPodOf(world, part, calls);
    for (const { name } of others) {
      const expected = allowed.includes(name);
      if (reached.includes(name) === expected) continue;
      wrong.push(`${part} ${expected ? 'cannot reach' : 'reaches'} ${name}`);
    }
  }
  return wrong;
}

/** The addresses of pods (not of Services) and of the Kubernetes API, and a name to look up. */
async function readAddresses(world: World): Promise<Address[]> {
  const { cluster, namespace } = world;
  const parts = Object.entries(PORTS).map(async ([name, port]) => {
    const [pod] = await podsOf(world, name.replace(' health', ''));
    assert.ok(pod?.status.podIP, `${name} has no pod`);
    return { name, host: pod.status.podIP, port };
  });
  const { spec } = await cluster.read<{ readonly spec: { readonly clusterIP: string } }>(
    ...['service', 'kubernetes', '--namespace', 'default'],
  );
  return [
    ...(await Promise.all(parts)),
    { name: 'Kubernetes', host: spec.clusterIP, port: 443 },
    { name: 'DNS', host: `fw-users.${namespace}.svc` },
  ];
}

/** Runs a probe in a new pod, and returns the names of the addresses that it reaches. */
export async function probeFromNewPod(
  { cluster, settings }: World,
  namespace: string,
  calls: Calls,
): Promise<readonly string[]> {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client', namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      containers: [probeContainer(settings, calls)],
    },
  });
  const reached = await readReached(cluster, namespace, 'client');
  await cluster.kubectl(['delete', 'pod', 'client', '--namespace', namespace]);
  return reached;
}

/** Runs a probe in the network of a pod, as an ephemeral container; returns the names it reaches. */
export async function probeFromPodOf(
  world: World,
  part: string,
  calls: Calls,
): Promise<readonly string[]> {
  const { cluster, namespace, settings } = world;
  const [found] = await podsOf(world, part);
  assert.ok(found);
  const { name } = found.metadata;
  const pod = await cluster.read<Pod & { readonly spec: object }>(
    ...['pod', name, '--namespace', namespace],
  );
  const ephemeralContainers = [probeContainer(settings, calls)];
  await cluster.kubectl(
    [
      ...['replace', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/ephemeralcontainers`],
      '--filename=-',
    ],
    JSON.stringify({ ...pod, spec: { ...pod.spec, ephemeralContainers } }),
  );
  return readReached(cluster, namespace, name);
}

/** A container that conforms to Pod Security `restricted`. */
function probeContainer(settings: Settings, calls: Calls) {
  return {
    name: 'probe',
    image: nodeImage(settings),
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '--eval', `(${probe})(${JSON.stringify(calls)})`],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}

/**
 * The script of the probe: tries every address, and prints the names of those that it reaches. A policy takes effect a
 * moment after a pod starts: up to five times, it tries again after 3 s if the result differs from `allowed`.
 */
const probe = `async ({ addresses, allowed }) => {
  const net = require('node:net');
  const dns = require('node:dns').promises;
  const connect = (host, port) => new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: 3000 });
    const end = (reached) => { socket.destroy(); resolve(reached); };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
  const lookUp = (host) => Promise.race([
    dns.lookup(host).then(() => true, () => false),
    new Promise((resolve) => setTimeout(resolve, 4000, false)),
  ]);
  const findReached = async () => {
    const names = addresses.map(async ({ name, host, port }) =>
      (await (port ? connect(host, port) : lookUp(host))) && name,
    );
    return (await Promise.all(names)).filter(Boolean);
  };
  const isExpected = (reached) =>
    addresses.every(({ name }) => allowed.includes(name) === reached.includes(name));
  let reached = await findReached();
  for (let attempt = 1; attempt < 5 && !isExpected(reached); attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    reached = await findReached();
  }
  console.log('reached:' + JSON.stringify(reached));
  process.exit();
}`;

function readReached(cluster: Cluster, namespace: string, pod: string): Promise<readonly string[]> {
  return waitFor({ cluster, what: `the result of the probe in ${pod}`, seconds: 60 }, async () => {
    const log = await cluster.kubectl(['logs', pod, '--container=probe', '--namespace', namespace]);
    const [, names] = /^reached:(.+)$/m.exec(log) ?? [];
    return names === undefined ? undefined : JSON.parse(names);
  });
}
