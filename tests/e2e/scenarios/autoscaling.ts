import assert from 'node:assert/strict';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../../deploy/local/cluster/pod.ts';
import { merge } from '../../../deploy/local/cluster/values.ts';
import { drain, lacksSpareNode, uncordon } from '../nodes.ts';
import { installPlatform, keptOn, pickNodes } from '../platform.ts';
import { podsOf, waitForPods } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';
import { startStream } from '../stream.ts';

/** As fast as can be, so that a trial need not wait for what is slow on purpose. */
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

/** More pods while there is much to do, fewer afterwards, and never too few of them. */
export const autoscaling: Scenario = {
  name: 'autoscaling',
  title:
    'users grows from 2 pods under load and shrinks back, nothing lost; a drain takes one pod at a time',
  seconds: 480,
  async lacks(world) {
    const { cluster } = world;
    try {
      await cluster.kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes']);
    } catch {
      return 'the cluster has no resource metrics: install metrics-server';
    }
    return lacksSpareNode(world);
  },
  async run(world) {
    const { cluster, space, say } = world;
    const where = { cluster, namespace: space.name };
    const nodes = await pickNodes(cluster);
    assert.ok(nodes);
    const platform = await installPlatform(
      world,
      merge(keptOn(nodes.stays), {
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
    await waitForPods(where, { part: 'users', count: 2 });

    // Half of what the rollout has: a drain moves half of all pods at once.
    const stream = startStream(world, platform, Math.ceil(world.settings.streamRate / 2));
    say('waiting for more than 2 pods');
    await waitFor(
      { cluster, what: 'a third pod of users that takes requests', seconds: 120 },
      async () => {
        return (await podsOf(where, 'users')).filter(isReady).length > 2 || undefined;
      },
    );
    await keepsBudget(world, nodes.goes.metadata.name);
    say('waiting for 2 pods again, with a tenth of the requests');
    await stream.end();
    const few = startStream(world, platform, Math.ceil(world.settings.streamRate / 10));
    await waitForPods(where, { part: 'users', count: 2, seconds: 180 });
    await few.end();
  },
};

/** Drains a node, and watches that no more than one pod of users is away at any time. */
async function keepsBudget(world: World, node: string): Promise<void> {
  const { cluster, space, say, afterwards } = world;
  say(`draining ${node}`);
  afterwards((of) => uncordon(of, node));
  let draining = true;
  const drained = drain(world, node).finally(() => {
    draining = false;
  });
  drained.catch(() => {});
  while (draining) {
    const { status } = await cluster.read<{
      readonly status: { readonly currentHealthy: number; readonly desiredHealthy: number };
    }>('poddisruptionbudget', 'fw-users', '--namespace', space.name);
    const { currentHealthy, desiredHealthy } = status;
    assert.ok(
      currentHealthy >= desiredHealthy,
      `${currentHealthy} pods of users took requests, where ${desiredHealthy} have to`,
    );
  }
  await drained;
  await uncordon(cluster, node);
}
