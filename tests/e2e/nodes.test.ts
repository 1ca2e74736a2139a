import { expect, test } from 'vitest';

import type { Cluster } from '../../deploy/local/cluster/cluster.ts';
import type { Pod } from '../../deploy/local/cluster/pod.ts';
import { drain, missingSpareNode, type Node } from './nodes.ts';
import { readSettings } from './settings.ts';

const NAMESPACE = 'fw-e2e-rollout-1';

function pod(namespace: string, name: string, over: Partial<Pod> & { owner?: string } = {}): Pod {
  const { owner = 'ReplicaSet', ...rest } = over;
  const metadata = { name, namespace, ownerReferences: [{ kind: owner }] };
  return { metadata, spec: { nodeName: 'b' }, status: { phase: 'Running' }, ...rest };
}

const OWN = pod(NAMESPACE, 'fw-users-1');
const SYSTEM = [
  pod('kube-system', 'coredns-1'),
  pod('logging', 'agent-1', { owner: 'DaemonSet' }),
  pod('edge', 'static-b', { owner: 'Node' }),
  pod('shop', 'migrate-1', { owner: 'Job', status: { phase: 'Succeeded' } }),
];
/** Other workloads, one of them of the same charts. */
const OTHERS = [pod('production', 'fw-users-7'), pod('shop', 'cart-1')];

function node(name: string): Node {
  return {
    metadata: { name, labels: {} },
    spec: {},
    status: { addresses: [], conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** A cluster whose node `b` has these pods; it records each call of kubectl. */
function fakeCluster(pods: readonly Pod[], nodes = [node('a'), node('b')]) {
  const calls: string[] = [];
  const unexpected = async () => {
    throw new Error('unexpected call');
  };
  const cluster: Cluster = {
    signal: new AbortController().signal,
    kubectl: async (args) => {
      calls.push(args.join(' '));
      return '';
    },
    helm: unexpected,
    apply: unexpected,
    read: async <T>(kind = '', ...args: readonly string[]) => {
      const isOfB = args.includes('--field-selector=spec.nodeName=b');
      return { items: kind === 'nodes' ? nodes : isOfB ? pods : [] } as T;
    },
    pods: unexpected,
    events: unexpected,
  };
  return { cluster, calls };
}

const CAREFUL = readSettings({});
const ALLOWED = readSettings({ E2E_ALLOW_NODES: '1' });

test('drain evicts only the pods of its namespace', async () => {
  const { cluster, calls } = fakeCluster([OWN, ...SYSTEM]);

  await drain({ cluster, settings: CAREFUL, namespace: NAMESPACE }, 'b');

  expect(calls).toEqual([
    'cordon b',
    `label pods --namespace ${NAMESPACE} --field-selector=spec.nodeName=b --overwrite fw-e2e=${NAMESPACE}`,
    expect.stringMatching(new RegExp(`^drain b .*--pod-selector fw-e2e=${NAMESPACE} `)),
  ]);
});

test('drain rejects a node with other workloads and names them', async () => {
  const { cluster, calls } = fakeCluster([OWN, ...SYSTEM, ...OTHERS]);

  await expect(drain({ cluster, settings: CAREFUL, namespace: NAMESPACE }, 'b')).rejects.toThrow(
    'other workloads run on the node b: production/fw-users-7, shop/cart-1; set E2E_ALLOW_NODES=1',
  );
  expect(calls).toEqual([]);
});

test('a node with other workloads is not spare', async () => {
  const { cluster } = fakeCluster([...SYSTEM, ...OTHERS]);

  expect(await missingSpareNode({ cluster, settings: CAREFUL })).toMatch(
    /^other workloads run on the node b: production\/fw-users-7, shop\/cart-1; set E2E_ALLOW_NODES=1/,
  );
});

test('a node with system pods only is spare', async () => {
  const { cluster } = fakeCluster(SYSTEM);

  expect(await missingSpareNode({ cluster, settings: CAREFUL })).toBeUndefined();
});

test('E2E_ALLOW_NODES=1 allows a node with other workloads, whose pods stay', async () => {
  const { cluster, calls } = fakeCluster([OWN, ...OTHERS]);

  expect(await missingSpareNode({ cluster, settings: ALLOWED })).toBeUndefined();
  await drain({ cluster, settings: ALLOWED, namespace: NAMESPACE }, 'b');

  const evicting = calls.filter((call) => call.startsWith('drain'));
  expect(evicting).toEqual([expect.stringContaining(`--pod-selector fw-e2e=${NAMESPACE} `)]);
});

test('the message names ten other workloads and the number of the rest', async () => {
  const many = Array.from({ length: 12 }, (_, index) => pod('shop', `cart-${index + 10}`));
  const { cluster } = fakeCluster(many);

  expect(await missingSpareNode({ cluster, settings: CAREFUL })).toMatch(/cart-19 and 2 more; set/);
});

test('a cluster with one usable node has no spare node', async () => {
  const { cluster } = fakeCluster([], [node('a')]);

  expect(await missingSpareNode({ cluster, settings: ALLOWED })).toBe(
    'the cluster has no second node that accepts pods: expected two or more',
  );
});
