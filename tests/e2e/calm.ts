import { setTimeout as sleep } from 'node:timers/promises';

import type { World } from './scenario.ts';

/** How quickly a request is answered that waits for no other, and how long that may take to be so. */
const CALM = { answeredMs: 100, times: 5, longestMs: 20_000 };

/**
 * Waits until what has queued up is answered. Without it, one change after another is a test of how
 * much the nodes can do at once; a cluster that is never calm is left to the stream to judge.
 */
export async function calm({ cluster: { signal } }: World, base: string): Promise<void> {
  const startedMs = performance.now();
  let quick = 0;
  while (quick < CALM.times && performance.now() - startedMs < CALM.longestMs) {
    const askedMs = performance.now();
    const answer = await fetch(`${base}/api/v2/users?limit=1`, { signal }).catch(() => undefined);
    await answer?.body?.cancel();
    signal.throwIfAborted();
    quick = performance.now() - askedMs < CALM.answeredMs ? quick + 1 : 0;
    await sleep(50, undefined, { signal });
  }
}
