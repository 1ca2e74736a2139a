import { setTimeout as sleep } from 'node:timers/promises';

import { readRunning } from '../../../deploy/local/state.ts';
import { samplesOf } from '../samples.ts';

/** What one process used at a time. */
export interface MemorySample {
  /** Name of the process, such as `users-1`. */
  readonly name: string;
  readonly hours: number;
  /**
   * Memory in use after a garbage collection: JavaScript objects and buffers, in MB. Compiled code is not
   * counted: V8 compiles rarely used functions for many minutes, up to the size of the program.
   */
  readonly inUseMb: number;
  /** Memory that the operating system assigned to the process, in MB. */
  readonly residentMb: number;
  /** Processor time since the start of the process, in seconds. */
  readonly cpuSeconds: number;
}

/** Reads the metrics of each service process that `run` records, every `periodMs` until `signal` aborts. */
export async function sampleMemory(
  run: string,
  { periodMs, signal }: { readonly periodMs: number; readonly signal: AbortSignal },
): Promise<MemorySample[]> {
  const processes = readRunning(run).filter(({ name }) => name !== 'edge');
  const start = performance.now();
  const samples: MemorySample[] = [];
  for (let turn = 0; !signal.aborted; turn++) {
    samples.push(...(await Promise.all(processes.map((one) => sample(one, start)))));
    const nextMs = start + (turn + 1) * periodMs - performance.now();
    await sleep(Math.max(0, nextMs), undefined, { signal }).catch(() => {});
  }
  return samples;
}

async function sample(
  { name, readyUrl }: { readonly name: string; readonly readyUrl: string },
  start: number,
): Promise<MemorySample> {
  const hours = (performance.now() - start) / 3_600_000;
  const response = await fetch(new URL('/metrics', readyUrl));
  const text = await response.text();
  const sum = (metric: string) =>
    samplesOf(metric, text)
      .filter(({ labels: { space = '' } }) => !/^(code|trusted)/.test(space))
      .reduce((total, { value }) => total + value, 0);
  const inUse = sum('nodejs_heap_space_size_used_bytes') + sum('nodejs_external_memory_bytes');
  return {
    name,
    hours,
    inUseMb: inUse / 1e6,
    residentMb: sum('process_resident_memory_bytes') / 1e6,
    cpuSeconds: sum('process_cpu_seconds_total'),
  };
}
