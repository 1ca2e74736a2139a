import assert from 'node:assert/strict';
import path from 'node:path';

import { merge, type Values } from '../../../deploy/local/cluster/values.ts';
import { describeMachine } from '../../../deploy/local/testing/machine.ts';
import { writeSection } from '../../../deploy/local/testing/markdown.ts';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { describeStolenTime, measureStolenTime } from '../../stolen-time.ts';
import { deletePods, forAllServices, installOverNodes, restart, streamDuring } from '../changes.ts';
import { waitForIdle } from '../idle.ts';
import { compareUsers, readUsers } from '../ledger.ts';
import { drain, missingSpareNode, pickNodes, uncordon, waitForLostNode } from '../nodes.ts';
import type { Platform } from '../platform.ts';
import { waitForPods, waitForReplicas } from '../pods.ts';
import { killNode } from '../power.ts';
import { renameColumn } from '../rename-column.ts';
import { COLUMN, nodeOptionsOfNextRelease } from '../renamed-code.ts';
import { scenario, type World } from '../scenario.ts';
import { readSettings } from '../settings.ts';
import { MAX_STREAM_SECONDS } from '../stream.ts';
import { createTotals, type Totals } from '../totals.ts';

const { full, streamRate, streamRequests } = readSettings(process.env);

/** Time limit: in the full form the changes are repeated until the number of requests is reached. */
const SECONDS = full
  ? 3 * (streamRequests / streamRate) + 2 * MAX_STREAM_SECONDS
  : 240 + MAX_STREAM_SECONDS;

/** The full form upgrades, rolls back and scales every service, the short form one. */
const CHANGED = full ? SERVICE_NAMES : SERVICE_NAMES.slice(0, 1);

/** A stream during a power failure: clients repeat requests, so that each needs a client of its own. */
const POWER_FAILURE = { rate: 20, retrySeconds: 90 };

/**
 * The virtual users of k6 in a stream, in a power failure too: each has at most one request in flight when
 * the stream ends.
 */
const MOST_IN_FLIGHT = Math.max(
  5 * streamRate,
  (5 + POWER_FAILURE.retrySeconds) * POWER_FAILURE.rate,
);

/** The page with the results of the full form. */
const DOCUMENT = path.resolve(import.meta.dirname, '../../../docs/operations/failures.md');

/** Above this share of stolen processor time, k6 may start requests too late. */
const UNDISTURBED = 0.01;

/** The current release of users, which the changes replace. */
interface Release {
  column: string;
  values: Values;
}

scenario({
  name: 'rollout',
  title: full
    ? 'no request and no acknowledged write is lost during any change, and none when a node is killed'
    : 'no request and no acknowledged write is lost during any change',
  seconds: SECONDS,
  async missing(world) {
    if (!full || world.settings.killNode) return missingSpareNode(world);
    return 'no node may be killed: set KILL_NODE and START_NODE to commands';
  },
  async run(world) {
    const { settings, log } = world;
    // A log line per request needs more CPU time than the request.
    const quiet = forAllServices({ config: { LOG_LEVEL: 'warn' } });
    const platform = await installOverNodes(world, quiet);
    const totals = createTotals();
    const stolen = measureStolenTime();
    const current: Release = { column: COLUMN.old, values: platform.values };
    do {
      await streamDuringChanges(world, { platform, totals, current });
      log(`none of ${totals.requests} requests was lost`);
    } while (full && totals.requests < settings.streamRequests);
    if (full) await streamDuringPowerFailure(world, platform, totals);

    log('comparing the acknowledged users with the rows of the database');
    const comparison = compareUsers(totals.ledger, await readUsers(world, current.column));
    const share = stolen();
    const result = `${streamRate} requests per second. ${describeStolenTime(share)}

${totals.render(comparison)}`;
    console.log(result);
    assert.deepEqual(
      { ...comparison, unacknowledged: 0 },
      {
        acknowledged: totals.ledger.length,
        matching: totals.ledger.length,
        ...{ missing: 0, different: 0, duplicates: 0, unacknowledged: 0 },
      },
    );
    // No request was lost, so these rows are of requests in flight at the end of a stream.
    assert.ok(comparison.unacknowledged <= MOST_IN_FLIGHT * totals.streams, 'too many other rows');
    assert.ok(totals.requests >= 0.95 * settings.streamRequests, 'too few requests were sent');
    // Other programs on the machine may delay k6.
    if (full && share < UNDISTURBED) assert.equal(totals.dropped, 0, 'requests started too late');
    if (full) writeSection(DOCUMENT, 'rollout', `${describeMachine()}\n\n${result}`);
  },
});

interface Round {
  readonly platform: Platform;
  readonly totals: Totals;
  readonly current: Release;
}

async function streamDuringChanges(world: World, round: Round): Promise<void> {
  const { platform, totals } = round;
  const stream = await streamDuring(world, {
    platform,
    changes: () => everyChange(world, round),
  });
  const result = await stream.end().catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await edgeErrors(world)}`, { cause: error });
  });
  totals.add(result);
}

/** One change after another, each completed before the next one starts. */
async function everyChange(world: World, { platform, totals, current }: Round): Promise<void> {
  const { log } = world;
  const { release, base } = platform;
  const before = current.values;
  // One service after another: starting every pod at once would test the capacity of the nodes.
  const upgradeTo = async (overrides: Values) => {
    current.values = merge(current.values, overrides);
    await release.upgrade(current.values);
    await waitForIdle(world, base);
  };

  const first = await release.revision();
  for (const name of CHANGED) {
    log(`upgrading ${name} to another configuration`);
    await upgradeTo({ [name]: { config: { LOG_LEVEL: 'error' } } });
    totals.count('upgrades');
  }
  for (const [index, name] of CHANGED.toReversed().entries()) {
    log(`rolling ${name} back`);
    await release.rollback(first + CHANGED.length - 1 - index);
    await waitForIdle(world, base);
    totals.count('rollbacks');
  }
  current.values = before;
  for (const name of CHANGED) {
    log(`scaling ${name} from 2 to 3`);
    await upgradeTo({ [name]: { replicaCount: 3 } });
    totals.count('scalings');
  }
  log('scaling all back to 2');
  await upgradeTo(forAllServices({ replicaCount: 2 }));
  totals.count('scalings');
  await deletePods(world, base);
  for (const _ of SERVICE_NAMES) totals.count('deleted pods');

  await restart(world, ['fw-edge']);
  await waitForPods(world, { part: 'edge', count: 2 });
  totals.count('restarts of the edge');

  const [from, to] =
    current.column === COLUMN.old ? [COLUMN.old, COLUMN.new] : [COLUMN.new, COLUMN.old];
  const extraEnv =
    to === COLUMN.new ? [{ name: 'NODE_OPTIONS', value: nodeOptionsOfNextRelease() }] : [];
  await renameColumn(world, { from, to, upgrade: () => upgradeTo({ users: { extraEnv } }) });
  current.column = to;
  totals.count('renamed columns');

  await drainNode(world);
  totals.count('drained nodes');
}

async function drainNode(world: World): Promise<void> {
  const { cluster, log } = world;
  const node = (await pickNodes(cluster))?.goes.metadata.name;
  assert.ok(node);
  log(`draining ${node}`);
  world.onCleanUp((other) => uncordon(other, node));
  await drain(world, node);
  await uncordon(cluster, node);
  for (const part of [...SERVICE_NAMES, 'edge']) await waitForPods(world, { part, count: 2 });
}

/** Clients repeat a request that gets no response, those that create users with the same key. */
async function streamDuringPowerFailure(
  world: World,
  platform: Platform,
  totals: Totals,
): Promise<void> {
  const { cluster, log } = world;
  const node = (await pickNodes(cluster))?.goes.metadata.name;
  assert.ok(node);
  const changes = async () => {
    log(`killing ${node}`);
    const startNode = await killNode(world, node);
    await waitForLostNode(cluster, node);
    for (const part of SERVICE_NAMES) {
      await waitForReplicas(world, { part, count: 2, seconds: 180 });
    }
    log(`starting ${node} again`);
    await startNode();
    for (const part of SERVICE_NAMES) await waitForPods(world, { part, count: 2 });
  };
  const stream = await streamDuring(world, { platform, changes, start: POWER_FAILURE });
  totals.add(await stream.end());
  totals.count('killed nodes');
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
