import { setTimeout as sleep } from 'node:timers/promises';

import type { World } from '../world.ts';

/** A Rollout, as far as the tests read it. */
interface Rollout {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly strategy: { readonly canary?: object } };
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly abort?: boolean;
    readonly observedGeneration?: string;
    readonly currentPodHash?: string;
    readonly stableRS?: string;
    readonly blueGreen?: { readonly activeSelector?: string };
    readonly canary?: { readonly weights?: { readonly canary: { readonly weight: number } } };
  };
}

/** How the release of one version ended. */
export interface Outcome {
  readonly isPromoted: boolean;
  readonly message: string;
  /** Seconds from the start of the first pod of the version to the outcome; nothing was visible before. */
  readonly seconds: number;
  /** Seconds for which users were served by the version before it was rolled back. */
  readonly servedSeconds: number;
  /** The largest share of the requests, in percent, that it got before it was rolled back. */
  readonly percent: number;
}

/** Waits until a version is promoted and stable, or rolled back. */
export async function waitForOutcome(
  { cluster, namespace }: World,
  name: string,
  limitSeconds: number,
): Promise<Outcome> {
  let startedMs: number | undefined;
  let switchedMs: number | undefined;
  let percent = 0;
  const endMs = Date.now() + limitSeconds * 1_000;
  while (Date.now() < endMs) {
    const rollout = await cluster.read<Rollout>('rollout', name, '--namespace', namespace);
    const { phase, message = '', abort = false, ...status } = rollout.status ?? {};
    const isCurrent = status.observedGeneration === String(rollout.metadata.generation);
    const { currentPodHash: version, stableRS: stable } = status;
    const share = version === undefined ? 0 : shareOf(rollout, version);
    const isActive = share > 0;
    if (isCurrent && version !== undefined) {
      startedMs ??= await readStart({ cluster, namespace }, `${name}-${version}-`);
      if (isActive && stable !== version) {
        switchedMs ??= Date.now();
        percent = Math.max(percent, share);
      }
      const isPromoted = stable === version && phase === 'Healthy';
      if (isPromoted || (abort && !isActive)) {
        const secondsSince = (ms: number | undefined) => (ms ? (Date.now() - ms) / 1_000 : 0);
        const servedSeconds = isPromoted ? 0 : secondsSince(switchedMs);
        return { isPromoted, message, seconds: secondsSince(startedMs), servedSeconds, percent };
      }
    }
    await sleep(500, undefined, { signal: cluster.signal });
  }
  throw new Error(`Waited ${limitSeconds} s for the release of ${name}`);
}

/** The share of the requests, in percent, that the next version gets. */
function shareOf({ spec, status = {} }: Rollout, version: string): number {
  if (spec.strategy.canary) return status.canary?.weights?.canary.weight ?? 0;
  return status.blueGreen?.activeSelector === version ? 100 : 0;
}

/** The time at which a node started the first pod whose name begins with `prefix`, or undefined. */
async function readStart(
  { cluster, namespace }: Pick<World, 'cluster' | 'namespace'>,
  prefix: string,
): Promise<number | undefined> {
  const times = (await cluster.pods(namespace))
    .filter(({ metadata }) => metadata.name.startsWith(prefix))
    .flatMap(({ status }) => status.startTime ?? [])
    .map(Date.parse);
  return times.length > 0 ? Math.min(...times) : undefined;
}
