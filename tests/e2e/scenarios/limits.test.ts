import assert from 'node:assert/strict';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { waitForIdle } from '../idle.ts';
import { installPlatform, type Platform } from '../platform.ts';
import { killPods, podsOf, restartsOf, scale, waitForPods } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';

const LIMIT = 100;

scenario({
  name: 'limits',
  title:
    'three replicas accept exactly 100 of 300 requests of one user; without Valkey each replica applies the limit separately',
  seconds: 300,
  async run(world) {
    const { cluster, log } = world;
    const platform = await installPlatform(world, { reports: { replicaCount: 3 } });
    // Warm-up: a replica whose store is slow counts separately, and the first requests are slow.
    await sendRequests(platform, LIMIT);
    await waitForIdle(world, platform.base);

    log('sending 300 requests of one user at once');
    await assertLimit(platform).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await storeLog(world)}`, { cause: error });
    });

    log('killing Valkey');
    assert.equal((await podsOf(world, 'valkey')).length, 1);
    await scale(world, 'deployment/fw-valkey', 0);
    await killPods(world, 'valkey');
    const counts = await sendRequests(platform, 4 * LIMIT);
    log(`without Valkey: ${JSON.stringify(counts)}`);
    assert.deepEqual(Object.keys(counts), ['200', '429'], 'requests are limited and none fails');
    assert.ok((counts[200] ?? 0) <= 3 * LIMIT, `${counts[200]} requests of one user passed`);

    log('starting Valkey again');
    await scale(world, 'deployment/fw-valkey', 1);
    await waitForPods(world, { part: 'valkey', count: 1 });
    await waitFor({ cluster, what: 'one count for all replicas', seconds: 30 }, async () => {
      await assertLimit(platform);
      return true;
    });
    assert.equal(restartsOf(await podsOf(world, 'reports')), 0, 'reports was restarted');
  },
});

async function assertLimit(platform: Platform): Promise<void> {
  const counts = await sendRequests(platform, 3 * LIMIT);
  assert.deepEqual(counts, { 200: LIMIT, 429: 2 * LIMIT });
}

/** Sends requests of a new user at once, and counts the responses by status. */
async function sendRequests(
  { api, newToken }: Platform,
  count: number,
): Promise<Record<string, number>> {
  const authorization = `Bearer ${newToken()}`;
  const counts: Record<string, number> = {};
  await Promise.all(
    Array.from({ length: count }, async () => {
      const response = await api.get('/api/v1/reports', { authorization });
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }),
  );
  return counts;
}

/** The log lines of reports about its rate limit store. */
async function storeLog({ cluster, namespace }: World): Promise<string> {
  const log = await cluster.kubectl([
    ...['logs', '--selector=app.kubernetes.io/name=reports', '--namespace', namespace],
    ...['--tail=-1', '--prefix'],
  ]);
  return log
    .split('\n')
    .filter((line) => line.includes('rate limit store'))
    .join('\n');
}
