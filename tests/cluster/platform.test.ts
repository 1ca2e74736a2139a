import assert from 'node:assert/strict';
import path from 'node:path';

import { test } from 'vitest';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../deploy/local/cluster/pod.ts';
import { describeMachine } from '../../deploy/local/testing/machine.ts';
import { markdownTable, writeSection } from '../../deploy/local/testing/markdown.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { checkSystem } from '../check-system.ts';
import { measureStolenTime } from '../stolen-time.ts';
import { columnsOf, everyChange, Totals } from './changes.ts';
import { assertRowsOf, assertUsersExist, createUser, readUsers, sql } from './ledger.ts';
import { waitForLeftovers } from './leftovers.ts';
import { findWrongCalls } from './network.ts';
import { killNode, missingSpareNode, pickNodes, singlePodsOnOneNode } from './nodes.ts';
import { assertResponds, installPlatform, type Platform, QUIET } from './platform.ts';
import {
  assertNoRestart,
  killPods,
  logLines,
  podsOf,
  scale,
  waitForIdle,
  waitForPods,
  waitForReplicas,
} from './pods.ts';
import { COLUMN } from './rename-column.ts';
import { streamDuring } from './stream.ts';
import { merge } from './values.ts';
import { provideVolumes } from './volumes.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file: PostgreSQL, Valkey, the edge, two nodes.
const world = createWorld('platform', missingSpareNode);
const { cluster, log } = world;
let platform: Platform;

/** PostgreSQL with a volume. */
const PERSISTENT = { trial: { postgres: { persistence: { enabled: true } } } };

test('installs, and passes the contract and smoke tests through the edge, and its own helm test', async () => {
  await provideVolumes(world);
  const values = merge(QUIET, await singlePodsOnOneNode(cluster), PERSISTENT);
  platform = await installPlatform(world, values);

  await checkSystem(platform, cluster.signal);
  await platform.release.test();
});

test('every pod reaches only the parts that it needs, and its role only its database', async () => {
  assert.deepEqual(await findWrongCalls(world), []);
  await assert.rejects(sql(world, 'SELECT 1', 'catalog'), /permission denied for database/);
});

/** Requests of one user of the free tier in each window. */
const LIMIT = 100;

test('three replicas accept exactly 100 of 300 requests of one user; without Valkey each limits alone', async () => {
  /** Sends requests of a new user at once, and counts the responses by status. */
  const countByStatus = async (requests: number) => {
    const authorization = `Bearer ${platform.newToken()}`;
    const counts: Record<number, number> = {};
    const send = async () => {
      const response = await platform.api.get('/api/v1/reports', { authorization });
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    };
    await Promise.all(Array.from({ length: requests }, send));
    return counts;
  };
  const exact = { 200: LIMIT, 429: 2 * LIMIT };
  await platform.upgrade({ reports: { replicaCount: 3 } });
  // Warm-up: a replica whose store is slow counts separately, and the first requests are slow.
  await countByStatus(LIMIT);
  await waitForIdle(world, platform.base);

  const problems = () => logLines(world, 'reports', /rate limit store/);
  assert.deepEqual(await countByStatus(3 * LIMIT), exact, (await problems()).join('\n'));

  log('killing Valkey');
  await scale(world, 'deployment/fw-valkey', 0);
  await killPods(world, 'valkey');
  const counts = await countByStatus(4 * LIMIT);
  log(`without Valkey: ${JSON.stringify(counts)}`);
  assert.deepEqual(Object.keys(counts), ['200', '429'], 'requests are limited and none fails');
  assert.ok((counts[200] ?? 0) <= 3 * LIMIT, `${counts[200]} requests of one user passed`);

  log('starting Valkey again');
  await scale(world, 'deployment/fw-valkey', 1);
  await waitForPods(world, { part: 'valkey', count: 1 });
  await waitFor({ cluster, what: 'one count for all replicas', seconds: 30 }, async () => {
    assert.deepEqual(await countByStatus(3 * LIMIT), exact);
    return true;
  });
  await assertNoRestart(world, ['reports']);
  await platform.upgrade({ reports: { replicaCount: 2 } });
});

const { full, streamRate, streamRequests } = world.settings;
const totals = new Totals();
/** The page with the results of the full form. */
const FAILURES_PAGE = path.resolve(import.meta.dirname, '../../docs/operations/failures.md');
/** The full form repeats the changes until the number of requests is reached. */
const CHANGES_LIMIT_MS = (full ? 3 * (streamRequests / streamRate) + 900 : 1_140) * 1_000;

test('no request and no acknowledged write is lost during any change', {
  timeout: CHANGES_LIMIT_MS,
}, async () => {
  const stolen = measureStolenTime();
  const before = (await readUsers(world, COLUMN.old)).length;
  const seconds = Math.ceil(Math.min(streamRequests, 40_000) / streamRate);
  do {
    const changes = () => everyChange(world, platform, totals);
    const stream = streamDuring(world, platform, changes, { seconds });
    const result = await stream.catch(async (error: Error) => {
      const lines = await logLines(world, 'edge', /"status":50\d|\[error\]/);
      throw new Error([error.message, ...lines.slice(0, 10)].join('\n'), { cause: error });
    });
    totals.add(result);
  } while (full && totals.requests.sent < streamRequests);

  const [column] = columnsOf(platform);
  const unacknowledged = assertRowsOf(totals.ledger, await readUsers(world, column));
  const inFlight = unacknowledged - before;
  assert.ok(inFlight <= 5 * streamRate * totals.requests.streams, `${inFlight} other rows`);
  assert.ok(totals.requests.sent >= 0.95 * streamRequests, 'too few requests were sent');
  // Other programs on the machine may delay k6.
  if (full && stolen() < 0.01) assert.equal(totals.requests.dropped, 0, 'requests started late');
  const sums = { ...totals.changes, ...totals.requests, acknowledged: totals.ledger.length };
  const rows = Object.entries({ ...sums, 'rows of requests in flight': inFlight });
  const table = markdownTable(
    ['Changes and requests', 'Number'],
    rows.map(([name, count]) => [name, count.toLocaleString('en')]),
  );
  console.log(table);
  if (full) writeSection(FAILURES_PAGE, 'rollout', `${describeMachine()}\n\n${table}`);
});

test('after the power loss of a node all parts recover; clients that repeat requests lose none, and no write is lost', async (context) => {
  if (!world.settings.killNode) context.skip('KILL_NODE and START_NODE are not set');
  const node = (await pickNodes(cluster)).goes.metadata.name;
  const parts = [...SERVICE_NAMES, 'edge'];

  const result = await streamDuring(
    world,
    platform,
    async () => {
      log(`killing ${node}`);
      const startNode = await killNode(world, node);
      const recovered = { cluster, what: 'the platform to recover', seconds: 60 };
      await waitFor(recovered, () => assertResponds(platform));
      for (const part of parts) await waitForReplicas(world, { part, count: 2, seconds: 180 });
      log(`starting ${node} again`);
      await startNode();
      for (const part of parts) await waitForPods(world, { part, count: 2 });
    },
    // Each client that repeats a request for 90 s needs a virtual user of k6.
    { rate: 20, retrySeconds: 90 },
  );
  totals.add(result);

  const [column] = columnsOf(platform);
  assertRowsOf(totals.ledger, await readUsers(world, column));
});

/** Scales faster than the defaults of Kubernetes, to keep the test short. */
const AUTOSCALING = {
  enabled: true,
  maxReplicas: 4,
  targetCPUUtilizationPercentage: 30,
  behavior: {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      policies: [{ type: 'Pods', value: 2, periodSeconds: 5 }],
    },
    scaleDown: {
      stabilizationWindowSeconds: 10,
      policies: [{ type: 'Percent', value: 100, periodSeconds: 5 }],
    },
  },
};

test('users gets an autoscaler, and scales up from 2 pods under load and down again, without losing a request', async () => {
  await waitForPods(world, { part: 'users', count: 2 });
  // Kubernetes first reduces the pods to one, until the autoscaler sets their number.
  const enable = async () => {
    await platform.upgrade({ users: { autoscaling: AUTOSCALING } });
    await waitForPods(world, { part: 'users', count: 2, seconds: 120 });
  };
  await streamDuring(world, platform, enable, { rate: 20 });
  const more = { cluster, what: 'a third ready pod of users', seconds: 120 };

  const scaleUp = async () => {
    await waitFor(more, async () => {
      return (await podsOf(world, 'users')).filter(isReady).length > 2 || undefined;
    });
  };
  const scaleDown = () => waitForPods(world, { part: 'users', count: 2, seconds: 180 });
  await streamDuring(world, platform, scaleUp, { rate: 300 });
  // Four pods then use less than half of the target.
  await streamDuring(world, platform, scaleDown, { rate: 5 });
});

test('uninstall leaves only the volume of PostgreSQL, and a new installation finds its data', async () => {
  const id = await createUser(platform.api);

  await platform.release.uninstall();

  await waitForLeftovers(world, ['persistentvolumeclaim/data-fw-postgres-0']);
  const { users } = platform.values; // its code uses the renamed column
  const again = await installPlatform(
    world,
    merge(await singlePodsOnOneNode(cluster), PERSISTENT, { users }),
  );
  await assertUsersExist(again.api, [id]);
});
