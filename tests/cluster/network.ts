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
    const reached = part.startsWith('client')
      ? await probeFromNewPod(world, part === 'client' ? namespace : other, addresses)
      : await probeFromPodOf(world, part, addresses);
    for (const { name } of addresses) {
      // Requests of a pod to itself do not leave it.
      if (name.split(' ')[0] === part) continue;
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
  addresses: readonly Address[],
): Promise<readonly string[]> {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client', namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      containers: [probeContainer(settings, addresses)],
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
  addresses: readonly Address[],
): Promise<readonly string[]> {
  const { cluster, namespace, settings } = world;
  const [found] = await podsOf(world, part);
  assert.ok(found);
  const { name } = found.metadata;
  const pod = await cluster.read<Pod & { readonly spec: object }>(
    ...['pod', name, '--namespace', namespace],
  );
  const ephemeralContainers = [probeContainer(settings, addresses)];
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
function probeContainer(settings: Settings, addresses: readonly Address[]) {
  return {
    name: 'probe',
    image: nodeImage(settings),
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '--eval', `(${probe})(${JSON.stringify(addresses)})`],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}

/** The script of the probe: tries every address, and prints the names of those that it reaches. */
const probe = `async (addresses) => {
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
  const names = await Promise.all(addresses.map(async ({ name, host, port }) =>
    (await (port ? connect(host, port) : lookUp(host))) && name,
  ));
  console.log('reached:' + JSON.stringify(names.filter(Boolean)));
  process.exit();
}`;

function readReached(cluster: Cluster, namespace: string, pod: string): Promise<readonly string[]> {
  return waitFor({ cluster, what: `the result of the probe in ${pod}`, seconds: 40 }, async () => {
    const log = await cluster.kubectl(['logs', pod, '--container=probe', '--namespace', namespace]);
    const [, names] = /^reached:(.+)$/m.exec(log) ?? [];
    return names === undefined ? undefined : JSON.parse(names);
  });
}
