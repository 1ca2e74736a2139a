import assert from 'node:assert/strict';
import { type Cluster, waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { runProgram } from '../../../deploy/local/cluster/program.ts';
import { merge } from '../../../deploy/local/cluster/values.ts';
import type { Api } from '../../contract/api.ts';
import { lacksSpareNode, waitForNode } from '../nodes.ts';
import { installPlatform, pickNodes } from '../platform.ts';
import { waitForPods } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';
import { createUser } from './database.ts';

/** How long a service may be away: until the cluster notices, and new pods have started. */
const BACK_SECONDS = 150;
const ACKNOWLEDGED = 50;

/** A node loses its power in the middle of everything. */
export const node: Scenario = {
  name: 'node',
  title:
    'when a node’s plug is pulled, what was acknowledged is still there, and service comes back by itself',
  seconds: 600,
  async lacks(world) {
    const { killNode } = world.settings;
    if (!killNode) return 'no node may be killed: set KILL_NODE and START_NODE to commands';
    return lacksSpareNode(world);
  },
  async run(world) {
    const { cluster, settings, space, say, afterwards } = world;
    const where = { cluster, namespace: space.name };
    const nodes = await pickNodes(cluster);
    assert.ok(nodes);
    const goes = nodes.goes.metadata.name;
    await provideVolumes(world, 1);
    const nodeSelector = { 'kubernetes.io/hostname': nodes.stays.metadata.name };
    const { target } = await installPlatform(
      world,
      merge(
        { postgres: { nodeSelector, storage: { ephemeral: false } } },
        { reports: { replicaCount: 3 } },
      ),
    );

    say(`writing while ${goes} is killed`);
    const written = writeOn(target.api, cluster);
    await waitFor({ cluster, what: 'users to be written', seconds: 30 }, async () => {
      return written.ids.length >= ACKNOWLEDGED || undefined;
    });
    await turn(world, settings.killNode, goes);
    afterwards(async (of) => {
      await turn({ ...world, cluster: of }, settings.startNode, goes);
      await waitForNode(of, goes);
    });
    say('waiting for service to be back');
    const start = Date.now();
    await waitFor({ cluster, what: 'service to be back', seconds: BACK_SECONDS }, async () => {
      return (await answersAll(target)) || undefined;
    });
    say(`back after ${Math.round((Date.now() - start) / 1000)} s`);
    for (const part of ['users', 'catalog']) await waitForReady(world, part, 2);
    const ids = await written.end();
    say(`reading the ${ids.length} users that were acknowledged`);
    await holdsAll(target.api, ids);

    say(`starting ${goes} again`);
    await turn(world, settings.startNode, goes);
    await waitForNode(cluster, goes);
    for (const part of ['users', 'catalog']) await waitForPods(where, { part, count: 2 });
    await holdsAll(target.api, ids);
  },
};

/** Runs the command that kills a node, or the one that starts it. */
async function turn({ cluster }: World, command = '', name: string): Promise<void> {
  await runProgram('bash', ['-c', `${command} "$1"`, 'bash', name], { signal: cluster.signal });
}

/** Creates one user after another, and remembers those that were acknowledged. */
function writeOn(api: Api, cluster: Cluster) {
  const ids: string[] = [];
  let ending = false;
  const writing = (async () => {
    while (!ending && !cluster.signal.aborted) {
      await createUser(api).then(
        (id) => ids.push(id),
        () => new Promise((resolve) => setTimeout(resolve, 100)),
      );
    }
  })();
  return {
    ids,
    async end() {
      ending = true;
      await writing;
      return ids;
    },
  };
}

/** Whether each service answers as it should, ten times in a row. */
async function answersAll({
  api,
  newToken,
}: Awaited<ReturnType<typeof installPlatform>>['target']) {
  const authorization = `Bearer ${newToken()}`;
  const paths = ['/api/v1/users?page=1&limit=1', '/api/v1/catalog', '/api/v1/reports'];
  for (const path of Array.from({ length: 10 }, () => paths).flat()) {
    const response = await api.get(path, { authorization, connection: 'close' });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}`);
  }
  return true;
}

async function waitForReady({ cluster, space }: World, part: string, count: number): Promise<void> {
  const what = `${count} pods of ${part}`;
  await waitFor({ cluster, what, seconds: BACK_SECONDS }, async () => {
    const { status } = await cluster.read<{ readonly status: { readonly readyReplicas?: number } }>(
      ...['deployment', `fw-${part}`, '--namespace', space.name],
    );
    return (status.readyReplicas ?? 0) >= count || undefined;
  });
}

async function holdsAll(api: Api, ids: readonly string[]): Promise<void> {
  // Several at a time: there are thousands.
  const rest = ids.values();
  const readOn = async () => {
    for (const id of rest) {
      const response = await api.get(`/api/v1/users/${id}`);
      assert.equal(response.status, 200, await response.text());
    }
  };
  await Promise.all(Array.from({ length: 16 }, readOn));
}
