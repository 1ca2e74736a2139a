import { setTimeout as sleep } from 'node:timers/promises';

import type { World } from './scenario.ts';

/** The platform is idle after this number of consecutive responses within this time. */
const IDLE = { responses: 5, withinMs: 100 };
const LIMIT_MS = 20_000;

/**
 * Waits until queued requests are done, so that a change does not test the capacity of the nodes.
 * Returns after at most 20 s.
 */
export async function waitForIdle({ cluster: { signal } }: World, base: string): Promise<void> {
  const startedMs = performance.now();
  let quick = 0;
  while (quick < IDLE.responses && performance.now() - startedMs < LIMIT_MS) {
    const sentMs = performance.now();
    const response = await fetch(`${base}/api/v2/users?limit=1`, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    signal.throwIfAborted();
    quick = performance.now() - sentMs < IDLE.withinMs ? quick + 1 : 0;
    await sleep(50, undefined, { signal });
  }
}
