import { expect, test } from 'vitest';

import type { Cluster, Node } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import { drain, lacksSpareNode } from './nodes.ts';
import { readSettings } from './settings.ts';

const SPACE = { name: 'fw-e2e-rollout-1', troubles: async () => '' };

function pod(namespace: string, name: string, over: Partial<Pod> & { owner?: string } = {}): Pod {
  const { owner = 'ReplicaSet', ...rest } = over;
  const metadata = { name, namespace, ownerReferences: [{ kind: owner }] };
  return { metadata, spec: { nodeName: 'b' }, status: { phase: 'Running' }, ...rest };
}

const OWN = pod(SPACE.name, 'fw-users-1');
const SYSTEM = [
  pod('kube-system', 'coredns-1'),
  pod('logging', 'agent-1', { owner: 'DaemonSet' }),
  pod('edge', 'static-b', { owner: 'Node' }),
  pod('shop', 'migrate-1', { owner: 'Job', status: { phase: 'Succeeded' } }),
];
/** The same charts, installed for production. */
const OTHERS = [pod('production', 'fw-users-7'), pod('shop', 'cart-1')];

function node(name: string): Node {
  return {
    metadata: { name, labels: {} },
    spec: {},
    status: { addresses: [], conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** A cluster whose node `b` has these pods; it records each call of kubectl. */
function fakeCluster(pods: readonly Pod[]) {
  const calls: string[] = [];
  const refuse = async () => {
    throw new Error('not part of a drain');
  };
  const cluster: Cluster = {
    signal: new AbortController().signal,
    kubectl: async (args) => {
      calls.push(args.join(' '));
      return '';
    },
    helm: refuse,
    apply: refuse,
    read: refuse,
    nodes: async () => [node('a'), node('b')],
    pods: async () => [],
    podsOn: async (name) => (name === 'b' ? pods : []),
    events: async () => [],
  };
  return { cluster, calls };
}

const CAREFUL = readSettings({});
const ALLOWED = readSettings({ E2E_ALLOW_NODES: '1' });

test('a drain evicts the pods of the run’s own namespace, and no others', async () => {
  const { cluster, calls } = fakeCluster([OWN, ...SYSTEM]);

  await drain({ cluster, settings: CAREFUL, space: SPACE }, 'b');

  expect(calls).toEqual([
    'cordon b',
    `label pods --namespace ${SPACE.name} --field-selector=spec.nodeName=b --overwrite fw-e2e=${SPACE.name}`,
    expect.stringMatching(new RegExp(`^drain b .*--pod-selector fw-e2e=${SPACE.name} `)),
  ]);
});

test('a node with workloads of others is neither cordoned nor drained; the message names them', async () => {
  const { cluster, calls } = fakeCluster([OWN, ...SYSTEM, ...OTHERS]);

  await expect(drain({ cluster, settings: CAREFUL, space: SPACE }, 'b')).rejects.toThrow(
    'other workloads run on the node b: production/fw-users-7, shop/cart-1; set E2E_ALLOW_NODES=1',
  );
  expect(calls).toEqual([]);
});

test('a scenario that takes a node away is refused before it installs anything', async () => {
  const { cluster } = fakeCluster([...SYSTEM, ...OTHERS]);

  expect(await lacksSpareNode({ cluster, settings: CAREFUL })).toMatch(
    /^other workloads run on the node b: production\/fw-users-7, shop\/cart-1; set E2E_ALLOW_NODES=1/,
  );
});

test('a node with nothing but the cluster’s own pods may be taken away', async () => {
  const { cluster } = fakeCluster(SYSTEM);

  expect(await lacksSpareNode({ cluster, settings: CAREFUL })).toBeUndefined();
});

test('with E2E_ALLOW_NODES=1, a node of others is drained of the run’s own pods alone', async () => {
  const { cluster, calls } = fakeCluster([OWN, ...OTHERS]);

  expect(await lacksSpareNode({ cluster, settings: ALLOWED })).toBeUndefined();
  await drain({ cluster, settings: ALLOWED, space: SPACE }, 'b');

  const evicting = calls.filter((call) => call.startsWith('drain'));
  expect(evicting).toEqual([expect.stringContaining(`--pod-selector fw-e2e=${SPACE.name} `)]);
});

test('the message about other workloads lists ten of them and the number of the rest', async () => {
  const many = Array.from({ length: 12 }, (_, index) => pod('shop', `cart-${index + 10}`));
  const { cluster } = fakeCluster(many);

  expect(await lacksSpareNode({ cluster, settings: CAREFUL })).toMatch(/cart-19 and 2 more; set/);
});

test('a cluster with one node that takes pods has none to spare', async () => {
  const { cluster } = fakeCluster([]);

  expect(
    await lacksSpareNode({
      cluster: { ...cluster, nodes: async () => [node('a')] },
      settings: ALLOWED,
    }),
  ).toBe('the cluster has no second node that takes pods: expected two or more');
});
