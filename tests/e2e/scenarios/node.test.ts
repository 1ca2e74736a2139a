import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import type { Api } from '../../api/requests.ts';
import { missingSpareNode, pickNodes, waitForLostNode } from '../nodes.ts';
import { assertResponds, installPlatform } from '../platform.ts';
import { waitForPods, waitForReplicas } from '../pods.ts';
import { killNode } from '../power.ts';
import { scenario } from '../scenario.ts';
import { assertUsersExist, createUser } from '../users.ts';
import { provideVolumes } from '../volumes.ts';

/** Time for the cluster to detect the dead node and to start new pods. */
const RECOVERY_SECONDS = 150;

/** The number of pods of each part that survives the loss of a node. */
const PODS = { users: 2, catalog: 2, reports: 3, edge: 2 };

scenario({
  name: 'node',
  title: 'after the power loss of a node no acknowledged write is lost and the service recovers',
  seconds: 600,
  async missing(world) {
    if (world.settings.killNode) return missingSpareNode(world);
    return 'no node may be killed: set KILL_NODE and START_NODE to commands';
  },
  async run(world) {
    const { cluster, log } = world;
    const nodes = await pickNodes(cluster);
    assert.ok(nodes);
    const goes = nodes.goes.metadata.name;
    await provideVolumes(world, 1);
    const nodeSelector = { 'kubernetes.io/hostname': nodes.stays.metadata.name };
    const platform = await installPlatform(world, {
      postgres: { nodeSelector, storage: { ephemeral: false } },
      reports: { replicaCount: PODS.reports },
    });
    const { api } = platform;

    log(`writing while ${goes} is killed`);
    const writer = startWriter(api, cluster.signal);
    await waitFor({ cluster, what: '50 written users', seconds: 30 }, async () => {
      return writer.ids.length >= 50 || undefined;
    });
    const startNode = await killNode(world, goes);
    log('waiting for the service to recover');
    const start = Date.now();
    await waitFor({ cluster, what: 'the service to recover', seconds: RECOVERY_SECONDS }, () =>
      assertResponds(platform),
    );
    log(`recovered after ${Math.round((Date.now() - start) / 1000)} s`);
    await waitForLostNode(cluster, goes);
    for (const [part, count] of Object.entries(PODS)) {
      await waitForReplicas(world, { part, count, seconds: RECOVERY_SECONDS });
    }
    const ids = await writer.stop();
    log(`reading the ${ids.length} acknowledged users`);
    await assertUsersExist(api, ids);

    log(`starting ${goes} again`);
    await startNode();
    for (const [part, count] of Object.entries(PODS)) await waitForPods(world, { part, count });
    await assertUsersExist(api, ids);
  },
});

/** Creates one user after another, and collects the acknowledged ids. */
function startWriter(api: Api, signal: AbortSignal) {
  const ids: string[] = [];
  let isStopped = false;
  const writing = (async () => {
    while (!isStopped && !signal.aborted) {
      await createUser(api).then(
        (id) => ids.push(id),
        () => sleep(100),
      );
    }
  })();
  return {
    ids,
    async stop() {
      isStopped = true;
      await writing;
      return ids;
    },
  };
}
