import assert from 'node:assert/strict';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { deletePods, installOverNodes, restartServices, streamDuring } from '../changes.ts';
import { missingSecondNode } from '../nodes.ts';
import type { Platform } from '../platform.ts';
import { waitForPods, waitForRollout } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';

/** An attempt may lose no request by chance, so the scenario repeats it. */
const ATTEMPTS = 3;

scenario({
  name: 'rollout-without-drain',
  title: 'the same stream loses requests if the drain is disabled',
  seconds: 120 + ATTEMPTS * 120,
  missing: missingSecondNode,
  async run(world) {
    const platform = await installOverNodes(world);
    world.log('disabling the drain');
    for (const name of SERVICE_NAMES) await disableDrain(world, name);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const stream = await streamDuring(world, { platform, changes: restartPods, seconds: 30 });
      const { result } = await stream.stop();
      world.log(`${result.requests} requests, ${result.failed} failed`);
      if (result.failed > 0) return;
    }
    assert.fail('no request was lost: the scenario rollout would not detect a missing drain');
  },
});

/** Makes Node.js exit immediately on SIGTERM. */
const EXIT_AT_ONCE = "--import=data:text/javascript,process.once('SIGTERM',()=>process.exit())";

/** Patches a Deployment, because the chart has no value that disables the drain. */
async function disableDrain(world: World, name: string): Promise<void> {
  const env = [{ name: 'NODE_OPTIONS', value: EXIT_AT_ONCE }];
  const patch = { spec: { template: { spec: { containers: [{ name, env, lifecycle: null }] } } } };
  await world.cluster.kubectl([
    ...['patch', `deployment/fw-${name}`, '--namespace', world.namespace],
    ...['--patch', JSON.stringify(patch)],
  ]);
  await waitForRollout(world, `fw-${name}`);
  await waitForPods(world, { part: name, count: 2 });
}

/** Restarts every service, then deletes a pod of each. */
async function restartPods(world: World, { base }: Platform): Promise<void> {
  await restartServices(world);
  await deletePods(world, base);
}
