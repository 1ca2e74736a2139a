import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { merge, type Values } from '../../deploy/local/cluster/values.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { waitForIdle } from './idle.ts';
import { pickNodes, singlePodsOn } from './nodes.ts';
import { installPlatform, type Platform } from './platform.ts';
import { podsOf, waitForPods, waitForRollout } from './pods.ts';
import type { World } from './scenario.ts';
import { type StartOptions, type Stream, startStream } from './stream.ts';

/** The same values for every service. */
export function forAllServices(values: Values): Values {
  return Object.fromEntries(SERVICE_NAMES.map((name) => [name, values]));
}

/** Installs the platform with PostgreSQL and Valkey on the node that is kept. */
export async function installOverNodes(
  world: World,
  values: Values = {},
  address?: string,
): Promise<Platform> {
  const nodes = await pickNodes(world.cluster);
  assert.ok(nodes);
  return installPlatform(world, merge(singlePodsOn(nodes.stays), values), address);
}

export interface StreamOptions {
  readonly platform: Platform;
  readonly changes: (world: World, platform: Platform) => Promise<void>;
  /** The minimum duration. Default: that of the settings. */
  readonly seconds?: number;
  /** Requests per second, and how long a client repeats them. */
  readonly start?: StartOptions;
}

/** Sends requests from before the changes until after them. */
export async function streamDuring(
  world: World,
  { platform, changes, seconds = world.settings.streamSeconds, start: options }: StreamOptions,
): Promise<Stream> {
  const { cluster, settings, log } = world;
  const { signal } = cluster;
  log(`sending ${options?.rate ?? settings.streamRate} requests per second`);
  const stream = startStream(world, platform, options);
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

/**
 * Fails if fewer than half of the requests were sent: then the result says little. A shared machine may be
 * slower than the stream.
 *
 * @param seconds the minimum duration of the stream
 */
export function assertSent({ settings }: World, requests: number, seconds: number): void {
  const least = Math.floor(0.5 * settings.streamRate * seconds);
  assert.ok(requests >= least, `only ${requests} requests were sent, expected ${least}`);
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

/** Restarts Deployments such as `fw-edge` one after another. */
export async function restart(world: World, deployments: readonly string[]): Promise<void> {
  const { cluster, namespace, log } = world;
  for (const name of deployments) {
    log(`restarting ${name}`);
    await cluster.kubectl(['rollout', 'restart', `deployment/${name}`, '--namespace', namespace]);
    await waitForRollout(world, name);
  }
}

/** Restarts every service. */
export function restartServices(world: World): Promise<void> {
  return restart(
    world,
    SERVICE_NAMES.map((name) => `fw-${name}`),
  );
}
