import assert from 'node:assert/strict';
import { SERVICE_NAMES } from '../../services/services.ts';
import type { User } from './ledger.ts';
import { drain, pickNodes } from './nodes.ts';
import { forAllServices, type Platform } from './platform.ts';
import { deletePod, podsOf, restart, waitForIdle, waitForPods } from './pods.ts';
import { COLUMN, nodeOptionsOfNextRelease, renameColumn } from './rename-column.ts';
import type { StreamResult } from './stream.ts';
import type { Values } from './values.ts';
import type { World } from './world.ts';

/** The sums of several streams, and the changes during them. */
export class Totals {
  readonly ledger: User[] = [];
  readonly changes: Record<string, number> = {};
  readonly requests = { sent: 0, creating: 0, lost: 0, dropped: 0, streams: 0 };

  add({ requests, creations, lost, dropped, ledger }: StreamResult): void {
    this.requests.sent += requests;
    this.requests.creating += creations;
    this.requests.lost += lost;
    this.requests.dropped += dropped;
    this.requests.streams += 1;
    for (const user of ledger) this.ledger.push(user);
  }

  count(change: string): void {
    this.changes[change] = (this.changes[change] ?? 0) + 1;
  }
}

/** Every kind of change, one after another; each is complete before the next one starts. */
export async function everyChange(world: World, platform: Platform, totals: Totals): Promise<void> {
  const { settings, log } = world;
  const { release, base } = platform;
  const before = platform.values;
  // The long form changes every service, the short form one.
  const changed = settings.full ? SERVICE_NAMES : SERVICE_NAMES.slice(0, 1);
  // One service after another: starting every pod at once would test the capacity of the nodes.
  const upgrade = async (changes: Values) => {
    await platform.upgrade(changes);
    await waitForIdle(world, base);
  };

  const first = await release.revision();
  for (const name of changed) {
    log(`upgrading ${name} to another configuration`);
    await upgrade({ [name]: { config: { LOG_LEVEL: 'error' } } });
    assert.equal(await logLevelOf(world, name), 'error');
    totals.count('upgrades');
  }
  for (const [index, name] of changed.toReversed().entries()) {
    log(`rolling ${name} back`);
    await release.rollback(first + changed.length - 1 - index);
    await waitForIdle(world, base);
    assert.equal(await logLevelOf(world, name), 'warn');
    totals.count('rollbacks');
  }
  platform.values = before;
  for (const name of changed) {
    log(`scaling ${name} from 2 to 3`);
    await upgrade({ [name]: { replicaCount: 3 } });
    totals.count('scalings');
  }
  log('scaling all back to 2');
  await upgrade(forAllServices({ replicaCount: 2 }));
  totals.count('scalings');

  await deletePods(world, base);
  for (const _ of SERVICE_NAMES) totals.count('deleted pods');

  await restart(world, ['fw-edge']);
  await waitForPods(world, { part: 'edge', count: 2 });
  totals.count('restarts of the edge');

  const [from, to] = columnsOf(platform);
  const extraEnv =
    to === COLUMN.new ? [{ name: 'NODE_OPTIONS', value: nodeOptionsOfNextRelease() }] : [];
  await renameColumn(world, { from, to, upgrade: () => upgrade({ users: { extraEnv } }) });
  totals.count('renamed columns');

  await drainNode(world);
  totals.count('drained nodes');
}

/** The column of users that the installed release uses, and the other one. */
export function columnsOf({ values }: Platform): readonly [current: string, other: string] {
  const { extraEnv = [] } = values.users as { readonly extraEnv?: readonly object[] };
  return extraEnv.length > 0 ? [COLUMN.new, COLUMN.old] : [COLUMN.old, COLUMN.new];
}

/** Deletes a pod of each service, and waits for its replacement. */
async function deletePods(world: World, base: string): Promise<void> {
  for (const part of SERVICE_NAMES) {
    const [pod] = await podsOf(world, part);
    assert.ok(pod);
    world.log(`deleting ${pod.metadata.name}`);
    await deletePod(world, pod.metadata.name);
    await waitForPods(world, { part, count: 2 });
    await waitForIdle(world, base);
  }
}

/** Drains a node, and asserts that the PodDisruptionBudget of users is never violated. */
async function drainNode(world: World): Promise<void> {
  const { cluster, namespace, log } = world;
  const node = (await pickNodes(cluster)).goes.metadata.name;
  log(`draining ${node}`);
  let isDraining = true;
  const draining = drain(world, node).finally(() => {
    isDraining = false;
  });
  draining.catch(() => {});
  while (isDraining) {
    const { status } = await cluster.read<{
      readonly status: { readonly currentHealthy: number; readonly desiredHealthy: number };
    }>('poddisruptionbudget', 'fw-users', '--namespace', namespace);
    const { currentHealthy, desiredHealthy } = status;
    assert.ok(currentHealthy >= desiredHealthy, `${currentHealthy} pods of users were ready`);
  }
  await draining;
  for (const part of [...SERVICE_NAMES, 'edge']) await waitForPods(world, { part, count: 2 });
}

/** The configured log level of a service. */
async function logLevelOf({ cluster, namespace }: World, name: string): Promise<string> {
  const variable = '.spec.template.spec.containers[0].env[?(@.name=="LOG_LEVEL")].value';
  const where = ['deployment', `fw-${name}`, '--namespace', namespace];
  return cluster.kubectl(['get', ...where, `--output=jsonpath={${variable}}`]);
}
