import assert from 'node:assert/strict';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import type { World } from './world.ts';

/** Kinds that describe other objects. */
const DERIVED = [
  'events',
  'events.events.k8s.io',
  'pods.metrics.k8s.io',
  'endpointslices.discovery.k8s.io',
];
/** Objects that Kubernetes creates in every namespace. */
const BUILT_IN = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];

type Where = Pick<World, 'cluster' | 'namespace'>;

/** Waits until the namespace contains exactly these objects; pods take time to terminate. */
export async function waitForLeftovers(where: Where, expected: readonly string[]): Promise<void> {
  const what = `the namespace to contain only ${expected.join(' and ')}`;
  await waitFor({ cluster: where.cluster, what, seconds: 90, everyMs: 2_000 }, async () => {
    const left = await leftovers(where);
    assert.deepEqual(left, expected, `it contains ${left.join(', ')}`);
    return true;
  });
}

async function leftovers({ cluster, namespace }: Where): Promise<string[]> {
  const kinds = lines(
    await cluster.kubectl(['api-resources', '--namespaced', '--verbs=list', '-o', 'name']),
  ).filter((kind) => !DERIVED.includes(kind));
  const names = await cluster.kubectl([
    ...['get', kinds.join(','), '--namespace', namespace, '--output=name', '--ignore-not-found'],
  ]);
  return lines(names)
    .filter((name) => !BUILT_IN.includes(name))
    .toSorted();
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean);
}
