import assert from 'node:assert/strict';

import { merge, type Values } from '../../../deploy/local/cluster/values.ts';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { deletePods, forAllServices, installOverNodes, streamDuring } from '../changes.ts';
import { waitForIdle } from '../idle.ts';
import { drain, missingSpareNode, pickNodes, uncordon } from '../nodes.ts';
import type { Platform } from '../platform.ts';
import { waitForPods } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';
import { MAX_STREAM_SECONDS } from '../stream.ts';

/** Number of times that all changes run without a lost request. */
const TIMES = 2;

scenario({
  name: 'rollout',
  title:
    'no request is lost during an upgrade, a rollback, scaling, a deleted pod and a drained node',
  seconds: 120 + TIMES * (MAX_STREAM_SECONDS + 60),
  missing: missingSpareNode,
  async run(world) {
    const { settings, log } = world;
    // A log line per request needs more CPU time than the request.
    const quiet = forAllServices({ config: { LOG_LEVEL: 'warn' } });
    const platform = await installOverNodes(world, quiet);
    for (let time = 1; time <= TIMES; time += 1) {
      const stream = await streamDuring(world, { platform, changes: everyChange });
      const { requests } = await stream.end().catch(async (error: Error) => {
        throw new Error(`${error.message}\n${await edgeErrors(world)}`, { cause: error });
      });
      log(`run ${time} of ${TIMES}: none of ${requests} requests was lost`);
      const least = Math.floor(0.95 * settings.streamRate * settings.streamSeconds);
      assert.ok(requests >= least, `only ${requests} requests were sent, expected ${least}`);
    }
  },
});

/** One change after another, each completed before the next one starts. */
async function everyChange(world: World, { release, values, base }: Platform): Promise<void> {
  const { cluster, log } = world;
  let current = values;
  // One service after another: starting every pod at once would test the capacity of the nodes.
  const upgradeTo = async (overrides: Values) => {
    current = merge(current, overrides);
    await release.upgrade(current);
    await waitForIdle(world, base);
  };

  const first = await release.revision();
  for (const name of SERVICE_NAMES) {
    log(`upgrading ${name} to another configuration`);
    await upgradeTo({ [name]: { config: { LOG_LEVEL: 'error' } } });
  }
  for (const [index, name] of SERVICE_NAMES.toReversed().entries()) {
    log(`rolling ${name} back`);
    await release.rollback(first + SERVICE_NAMES.length - 1 - index);
    await waitForIdle(world, base);
  }
  current = values;
  for (const name of SERVICE_NAMES) {
    log(`scaling ${name} from 2 to 4`);
    await upgradeTo({ [name]: { replicaCount: 4 } });
  }
  log('scaling all back to 2');
  await upgradeTo(forAllServices({ replicaCount: 2 }));
  await deletePods(world, base);

  const node = (await pickNodes(cluster))?.goes.metadata.name;
  assert.ok(node);
  log(`draining ${node}`);
  world.onCleanUp((other) => uncordon(other, node));
  await drain(world, node);
  await uncordon(cluster, node);
  for (const part of SERVICE_NAMES) await waitForPods(world, { part, count: 2 });
}

/** The first log lines of the edge about requests without a response from a service. */
async function edgeErrors({ cluster, namespace }: World): Promise<string> {
  const log = await cluster.kubectl([
    ...['logs', '--selector=app.kubernetes.io/name=edge', '--namespace', namespace],
    ...['--tail=-1', '--prefix'],
  ]);
  const lines = log.split('\n').filter((line) => /"status":50\d|\[error\]/.test(line));
  return lines.slice(0, 10).join('\n');
}
