import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import type { Api } from '../../api.ts';
import { missingSpareNode, pickNodes } from '../nodes.ts';
import { installPlatform, type Platform } from '../platform.ts';
import { waitForPods, waitForReplicas } from '../pods.ts';
import { killNode, startNode } from '../power.ts';
import { scenario } from '../scenario.ts';
import { assertUsersExist, createUser } from '../users.ts';
import { provideVolumes } from '../volumes.ts';

/** Time for the cluster to detect the dead node and to start new pods. */
const RECOVERY_SECONDS = 150;

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
      reports: { replicaCount: 3 },
    });
    const { api } = platform;

    log(`writing while ${goes} is killed`);
    const writer = startWriter(api, cluster.signal);
    await waitFor({ cluster, what: '50 written users', seconds: 30 }, async () => {
      return writer.ids.length >= 50 || undefined;
    });
    await killNode(world, goes);
    log('waiting for the service to recover');
    const start = Date.now();
    await waitFor({ cluster, what: 'the service to recover', seconds: RECOVERY_SECONDS }, () =>
      assertResponds(platform),
    );
    log(`recovered after ${Math.round((Date.now() - start) / 1000)} s`);
    for (const part of ['users', 'catalog']) {
      await waitForReplicas(world, { part, count: 2, seconds: RECOVERY_SECONDS });
    }
    const ids = await writer.stop();
    log(`reading the ${ids.length} acknowledged users`);
    await assertUsersExist(api, ids);

    log(`starting ${goes} again`);
    await startNode(world, goes);
    for (const part of ['users', 'catalog']) await waitForPods(world, { part, count: 2 });
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

/** Asserts that each service returns 200, ten times in a row. */
async function assertResponds({ api, newToken }: Platform): Promise<true> {
  const authorization = `Bearer ${newToken()}`;
  const paths = ['/api/v1/users?page=1&limit=1', '/api/v1/catalog', '/api/v1/reports'];
  for (const path of Array.from({ length: 10 }, () => paths).flat()) {
    const response = await api.get(path, { authorization, connection: 'close' });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}`);
  }
  return true;
}
