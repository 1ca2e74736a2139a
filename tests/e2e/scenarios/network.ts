import assert from 'node:assert/strict';

import { type Cluster, waitFor } from '../../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../../deploy/local/cluster/pod.ts';
import { installPlatform } from '../platform.ts';
import { podsOf } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';
import { createSpace, removeSpace } from '../space.ts';
import { probeImage } from '../volumes.ts';

/** Whom the probes call, by the name of the part and the port of its pods. */
const TARGETS = {
  edge: 8080,
  users: 8080,
  catalog: 8080,
  reports: 8080,
  'users health': 9090,
  'reports health': 9090,
  postgres: 5432,
  valkey: 6379,
} as const;
type TargetName = keyof typeof TARGETS | 'Kubernetes' | 'DNS';

/** Whom each part may call. A stranger is a pod without any label of ours. */
const MAY: Readonly<Record<string, readonly TargetName[]>> = {
  edge: ['users', 'catalog', 'reports', 'DNS'],
  users: ['postgres', 'DNS'],
  catalog: ['postgres', 'DNS'],
  reports: ['users', 'catalog', 'valkey', 'DNS'],
  postgres: [],
  valkey: [],
  stranger: ['edge', 'Kubernetes', 'DNS'],
  'stranger elsewhere': ['edge', 'Kubernetes', 'DNS'],
};

/** Whom a pod reaches, tried out from inside its own network. */
export const network: Scenario = {
  name: 'network',
  title: 'every pod reaches those that it needs and nobody else, inwards and outwards',
  seconds: 300,
  async run(world) {
    const { cluster, space, say, afterwards } = world;
    await installPlatform(world);
    const elsewhere = await createSpace({ cluster, name: 'elsewhere' });
    afterwards((of) => removeSpace(of, elsewhere.name));
    const addresses = await addressesOf(world);

    const wrong: string[] = [];
    for (const [part, may] of Object.entries(MAY)) {
      say(`calling everybody from ${part}`);
      const namespace = part === 'stranger elsewhere' ? elsewhere.name : space.name;
      const probe = part.startsWith('stranger') ? runStranger : runBeside;
      const reached = await probe(world, { namespace, part, code: probeCode(addresses) });
      for (const name of Object.keys(addresses) as TargetName[]) {
        // A pod's own address never leaves it.
        if (name.split(' ')[0] === part || reached.includes(name) === may.includes(name)) continue;
        wrong.push(`${part} ${may.includes(name) ? 'cannot reach' : 'reaches'} ${name}`);
      }
    }
    assert.ok(wrong.length === 0, wrong.join('\n'));
  },
};

type Addresses = Readonly<Record<string, readonly [host: string, port: number]>>;

/** Where each of them is: a pod's own address, which no Service stands in front of. */
async function addressesOf({ cluster, space }: World): Promise<Addresses> {
  const where = { cluster, namespace: space.name };
  const addresses: Record<string, readonly [string, number]> = {};
  for (const [name, port] of Object.entries(TARGETS)) {
    const [pod] = await podsOf(where, name.replace(' health', ''));
    assert.ok(pod?.status.podIP, `${name} has no pod`);
    addresses[name] = [pod.status.podIP, port];
  }
  const { spec } = await cluster.read<{ readonly spec: { readonly clusterIP: string } }>(
    ...['service', 'kubernetes', '--namespace', 'default'],
  );
  return {
    ...addresses,
    Kubernetes: [spec.clusterIP, 443],
    DNS: [`fw-users.${space.name}.svc`, 0],
  };
}

/** Tries every address, and prints the names of those that it reaches. */
function probeCode(addresses: Addresses): string {
  return `
    const net = require('node:net');
    const dns = require('node:dns').promises;
    const connect = (host, port) => new Promise((resolve) => {
      const socket = net.connect({ host, port, timeout: 3000 });
      const end = (reached) => { socket.destroy(); resolve(reached); };
      socket.once('connect', () => end(true)).once('error', () => end(false)).once('timeout', () => end(false));
    });
    const look = (name) => Promise.race([
      dns.lookup(name).then(() => true, () => false),
      new Promise((resolve) => setTimeout(resolve, 4000, false)),
    ]);
    Promise.all(Object.entries(${JSON.stringify(addresses)}).map(async ([name, [host, port]]) =>
      (await (port ? connect(host, port) : look(host))) && name,
    )).then((names) => { console.log('reached:' + JSON.stringify(names.filter(Boolean))); process.exit(); });
  `;
}

interface ProbeOptions {
  readonly namespace: string;
  readonly part: string;
  readonly code: string;
}

const NOTHING_ALLOWED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  runAsUser: 65532,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Runs the probe in a pod of its own. */
async function runStranger({ cluster, settings }: World, { namespace, code }: ProbeOptions) {
  const name = 'stranger';
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'probe',
          image: probeImage(settings),
          command: ['node', '--eval', code],
          securityContext: NOTHING_ALLOWED,
        },
      ],
    },
  });
  return readReached(cluster, { namespace, pod: name });
}

/** Runs the probe beside a running pod, in its network: for all others it is that pod. */
async function runBeside({ cluster, settings }: World, { namespace, part, code }: ProbeOptions) {
  const [pod] = await podsOf({ cluster, namespace }, part);
  assert.ok(pod);
  const { name } = pod.metadata;
  const probe = {
    name: 'probe',
    image: probeImage(settings),
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '--eval', code],
    securityContext: NOTHING_ALLOWED,
  };
  const whole = await cluster.read<Pod & { readonly spec: object }>(
    'pod',
    name,
    '--namespace',
    namespace,
  );
  const changed = { ...whole, spec: { ...whole.spec, ephemeralContainers: [probe] } };
  await cluster.kubectl(
    [
      ...['replace', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/ephemeralcontainers`],
      '--filename=-',
    ],
    JSON.stringify(changed),
  );
  return readReached(cluster, { namespace, pod: name });
}

async function readReached(
  cluster: Cluster,
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
): Promise<readonly string[]> {
  return waitFor({ cluster, what: `what ${pod} reaches`, seconds: 40 }, async () => {
    const log = await cluster.kubectl(['logs', pod, '--container=probe', '--namespace', namespace]);
    const [, names] = /^reached:(.+)$/m.exec(log) ?? [];
    return names === undefined ? undefined : JSON.parse(names);
  });
}
