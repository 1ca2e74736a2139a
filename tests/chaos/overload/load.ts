import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';

import { type LoadOptions, type LoadResult, OUTCOMES } from './generator.ts';

const GENERATOR = path.join(import.meta.dirname, 'generator.ts');

/** The core of the services, and that of the edge and the clients. */
export const SERVICE_CORE = 0;
export const CLIENT_CORE = 1;

/** Whether processes can be bound to a core: taskset exists and there are several cores. */
export const canPin =
  os.availableParallelism() > 1 && spawnSync('taskset', ['--version']).error === undefined;

/** Binds this process to `core`, and the processes that it starts from now on. */
export function pinThisProcess(core: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}

/** Sends load from a process of its own. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const child = spawn(process.execPath, [GENERATOR], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`The load generator exited with code ${code}`);
  });
  exited.catch(() => {});
  child.send(options);
  const [result] = await Promise.race([once(child, 'message'), exited]);
  return result as LoadResult;
}

/** What happened to the requests of a period. */
export interface LoadSummary {
  readonly offered: number;
  readonly goodput: number;
  /** Numbers of requests by outcome. */
  readonly counts: Readonly<Record<(typeof OUTCOMES)[number], number>>;
  /** Of served requests, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Summarizes the requests that were due from `fromMs` to `toMs`; `offered` and `goodput` are per second. */
export function summarize(result: LoadResult, fromMs: number, toMs: number): LoadSummary {
  const counts = { left: 0, served: 0, rejected: 0, failed: 0, timedOut: 0 };
  const latencies: number[] = [];
  result.dueMs.forEach((dueMs, index) => {
    if (dueMs < fromMs || dueMs >= toMs) return;
    const outcome = OUTCOMES[result.outcome[index] ?? 0] ?? 'failed';
    counts[outcome]++;
    if (outcome === 'served') latencies.push(result.latencyMs[index] ?? 0);
  });
  latencies.sort((a, b) => a - b);
  const seconds = (toMs - fromMs) / 1_000;
  const total = Object.values(counts).reduce((sum, count) => sum + count);
  return {
    offered: total / seconds,
    goodput: counts.served / seconds,
    counts,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  };
}

/** The share of requests that were served, of those whose client waited; 0 if there were none. */
export function servedShare({ counts }: LoadSummary): number {
  const { served, rejected, failed, timedOut } = counts;
  return served === 0 ? 0 : served / (served + rejected + failed + timedOut);
}

/** The resolution of `recoveryMs`. */
export const PERIOD_MS = 500;

/** The start of the period from which at least 99 % of the requests are served, in milliseconds after `fromMs`. */
export function recoveryMs(result: LoadResult, fromMs: number): number {
  const endMs = result.dueMs.at(-1) ?? fromMs;
  let recoveredMs = fromMs;
  for (let ms = fromMs; ms < endMs; ms += PERIOD_MS) {
    if (servedShare(summarize(result, ms, ms + PERIOD_MS)) < 0.99) recoveredMs = ms + PERIOD_MS;
  }
  return recoveredMs - fromMs;
}
