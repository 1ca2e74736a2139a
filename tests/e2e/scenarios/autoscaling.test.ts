import assert from 'node:assert/strict';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../../deploy/local/cluster/pod.ts';
import { merge } from '../../../deploy/local/cluster/values.ts';
import { drain, missingSpareNode, pickNodes, singlePodsOn, uncordon } from '../nodes.ts';
import { installPlatform } from '../platform.ts';
import { podsOf, waitForPods } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';
import { startStream } from '../stream.ts';

/** Scales faster than the defaults of Kubernetes, to keep the scenario short. */
const behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    policies: [{ type: 'Pods', value: 2, periodSeconds: 5 }],
  },
  scaleDown: {
    stabilizationWindowSeconds: 10,
    policies: [{ type: 'Percent', value: 100, periodSeconds: 5 }],
  },
};

/** Requests per second while pods are removed: four pods then use less than half of the target. */
const SLOW_RATE = 5;

scenario({
  name: 'autoscaling',
  title:
    'users scales up from 2 pods under load and down again without losing a request; a drain evicts one pod at a time',
  seconds: 480,
  async missing(world) {
    try {
      await world.cluster.kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes']);
    } catch {
      return 'the cluster has no resource metrics: install metrics-server';
    }
    return missingSpareNode(world);
  },
  async run(world) {
    const { cluster, settings, log } = world;
    const nodes = await pickNodes(cluster);
    assert.ok(nodes);
    const platform = await installPlatform(
      world,
      merge(singlePodsOn(nodes.stays), {
        users: {
          config: { LOG_LEVEL: 'warn' },
          autoscaling: {
            enabled: true,
            maxReplicas: 4,
            targetCPUUtilizationPercentage: 30,
            behavior,
          },
        },
      }),
    );
    await waitForPods(world, { part: 'users', count: 2 });

    // Half the rate of the rollout, because a drain moves half of all pods at once.
    const stream = startStream(world, platform, { rate: Math.ceil(settings.streamRate / 2) });
    log('waiting for more than 2 pods');
    await waitFor({ cluster, what: 'a third ready pod of users', seconds: 120 }, async () => {
      return (await podsOf(world, 'users')).filter(isReady).length > 2 || undefined;
    });
    await drainWithinBudget(world, nodes.goes.metadata.name);
    log(`waiting for 2 pods again, with ${SLOW_RATE} requests per second`);
    await stream.end();
    const slow = startStream(world, platform, { rate: SLOW_RATE });
    await waitForPods(world, { part: 'users', count: 2, seconds: 180 });
    await slow.end();
  },
});

/** Drains a node and asserts that the PodDisruptionBudget is never violated. */
async function drainWithinBudget(world: World, node: string): Promise<void> {
  const { cluster, namespace, log, onCleanUp } = world;
  log(`draining ${node}`);
  onCleanUp((current) => uncordon(current, node));
  let isDraining = true;
  const drained = drain(world, node).finally(() => {
    isDraining = false;
  });
  drained.catch(() => {});
  while (isDraining) {
    const { status } = await cluster.read<{
      readonly status: { readonly currentHealthy: number; readonly desiredHealthy: number };
    }>('poddisruptionbudget', 'fw-users', '--namespace', namespace);
    const { currentHealthy, desiredHealthy } = status;
    assert.ok(
      currentHealthy >= desiredHealthy,
      `${currentHealthy} pods of users were ready, expected ${desiredHealthy} or more`,
    );
  }
  await drained;
  await uncordon(cluster, node);
}
