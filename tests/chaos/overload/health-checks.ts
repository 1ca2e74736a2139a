import { setTimeout as sleep } from 'node:timers/promises';

const PERIOD_MS = 100;
const TIMEOUT_MS = 1_000;

/** Requests `urls` ten times per second until `signal` aborts; resolves with the share of 200 responses. */
export async function checkHealth(urls: readonly string[], signal: AbortSignal): Promise<number> {
  const checks: Promise<boolean>[] = [];
  while (!signal.aborted) {
    checks.push(...urls.map(isOk));
    await sleep(PERIOD_MS);
  }
  const results = await Promise.all(checks);
  return results.filter(Boolean).length / results.length;
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
