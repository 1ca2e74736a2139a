import { setTimeout as sleep } from 'node:timers/promises';

import type { World } from './scenario.ts';

/** An idle platform responds this often in a row within this time. */
const IDLE = { responses: 5, withinMs: 100 };
const LIMIT_MS = 20_000;

/**
 * Waits until queued requests are done: otherwise each change would test how much the nodes can do at
 * once. After 20 s it returns in any case.
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
