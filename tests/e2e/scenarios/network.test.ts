import assert from 'node:assert/strict';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { createNamespace, removeNamespace } from '../namespace.ts';
import { installPlatform } from '../platform.ts';
import { podsOf } from '../pods.ts';
import { type Address, probeFromNewPod, probeFromPodOf } from '../probe.ts';
import { scenario, type World } from '../scenario.ts';

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

scenario({
  name: 'network',
  title: 'every pod reaches only the parts that it needs',
  seconds: 300,
  async run(world) {
    const { cluster, namespace, log, onCleanUp } = world;
    await installPlatform(world);
    const other = await createNamespace(cluster, { name: 'other' });
    onCleanUp((current) => removeNamespace(current, other));
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
    assert.ok(wrong.length === 0, wrong.join('\n'));
  },
});

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
