import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { merge, type Values } from '../../deploy/local/cluster/values.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { waitForIdle } from './idle.ts';
import { pickNodes, singlePodsOn } from './nodes.ts';
import { installPlatform, type Platform } from './platform.ts';
import { podsOf, waitForPods } from './pods.ts';
import type { World } from './scenario.ts';
import { type Stream, startStream } from './stream.ts';

/** The same values for every service. */
export function forAllServices(values: Values): Values {
  return Object.fromEntries(SERVICE_NAMES.map((name) => [name, values]));
}

/** Installs the platform with PostgreSQL and Valkey on the node that is kept. */
export async function installOverNodes(world: World, values: Values = {}): Promise<Platform> {
  const nodes = await pickNodes(world.cluster);
  assert.ok(nodes);
  return installPlatform(world, merge(singlePodsOn(nodes.stays), values));
}

export interface StreamOptions {
  readonly platform: Platform;
  readonly changes: (world: World, platform: Platform) => Promise<void>;
  /** The minimum duration. Default: that of the settings. */
  readonly seconds?: number;
}

/** Sends requests from before the changes until after them. */
export async function streamDuring(
  world: World,
  { platform, changes, seconds = world.settings.streamSeconds }: StreamOptions,
): Promise<Stream> {
  const { cluster, settings, log } = world;
  const { signal } = cluster;
  log(`sending ${settings.streamRate} requests per second`);
  const stream = startStream(world, platform);
  try {
    const start = Date.now();
    await sleep(3_000, undefined, { signal });
    await changes(world, platform);
    await sleep(Math.max(0, start + seconds * 1000 - Date.now()), undefined, { signal });
  } catch (error) {
    await stream.stop().catch(() => {});
    throw error;
  }
  return stream;
}

/** Deletes a pod of each service, and waits for its replacement. */
export async function deletePods(world: World, base: string): Promise<void> {
  const { cluster, namespace, log } = world;
  for (const part of SERVICE_NAMES) {
    const [pod] = await podsOf(world, part);
    assert.ok(pod);
    const { name } = pod.metadata;
    log(`deleting ${name}`);
    await cluster.kubectl([
      ...['delete', 'pod', name, '--namespace', namespace, '--request-timeout=0'],
    ]);
    await waitForPods(world, { part, count: 2 });
    await waitForIdle(world, base);
  }
}
