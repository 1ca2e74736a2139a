import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type LoadResult, runLoad } from '../../../deploy/k6/run.ts';
import { readRunning } from '../../../deploy/local/state.ts';
import type { TrialSystem } from '../../../deploy/local/testing/trial-system.ts';
import { readMetrics } from '../metrics.ts';
import { fitSlope, type Slope } from './slope.ts';

export interface SoakOptions {
  /** Journeys per second. */
  readonly rate: number;
  readonly seconds: number;
  /** The first part of `seconds`, which does not count: caches fill, and code is compiled. */
  readonly warmUpSeconds: number;
  /** Time between two samples of the memory. */
  readonly periodMs: number;
}

/** What one process used at a time. */
interface MemorySample {
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

/** The memory of one process after the warm-up: the last sample, and slopes in MB per hour. */
export interface ProcessMemory extends Omit<MemorySample, 'hours' | 'cpuSeconds'> {
  readonly inUse: Slope;
  readonly resident: Slope;
  /** Share of one processor. */
  readonly processorShare: number;
}

export interface SoakResult {
  readonly load: LoadResult;
  readonly processes: readonly ProcessMemory[];
}

/** Runs the profile `soak` against `system` and measures how the memory of its processes grows. */
export async function soak(
  { origin, folders }: TrialSystem,
  { rate, seconds, warmUpSeconds, periodMs }: SoakOptions,
): Promise<SoakResult> {
  const ended = new AbortController();
  const sampling = sampleMemory(folders.run, { periodMs, signal: ended.signal });
  const load = await runLoad({
    profile: 'soak',
    base: origin,
    env: { PATH: process.env.PATH, RATE: String(rate), DURATION: `${seconds}s` },
    run: folders.run,
    out: path.join(folders.root, 'load'),
  }).finally(() => ended.abort());
  const samples = (await sampling).filter(({ hours }) => hours * 3_600 >= warmUpSeconds);
  const byName = Object.groupBy(samples, ({ name }) => name);
  return { load, processes: Object.values(byName).map((own = []) => memoryOf(own)) };
}

/** Samples each process of a service that `run` records, until `signal` aborts. */
async function sampleMemory(
  run: string,
  { periodMs, signal }: { readonly periodMs: number; readonly signal: AbortSignal },
): Promise<MemorySample[]> {
  const processes = readRunning(run).filter(({ name }) => name !== 'edge');
  const startMs = performance.now();
  const samples: MemorySample[] = [];
  const sample = async ({ name, readyUrl }: (typeof processes)[number]) => {
    const hours = (performance.now() - startMs) / 3_600_000;
    const sum = await readMetrics(readyUrl);
    const heap = sum('nodejs_heap_space_size_used_bytes', /space="(?!code|trusted)/);
    samples.push({
      name,
      hours,
      inUseMb: (heap + sum('nodejs_external_memory_bytes')) / 1e6,
      residentMb: sum('process_resident_memory_bytes') / 1e6,
      cpuSeconds: sum('process_cpu_seconds_total'),
    });
  };
  for (let turn = 1; !signal.aborted; turn++) {
    await Promise.all(processes.map(sample));
    const nextMs = startMs + turn * periodMs - performance.now();
    await sleep(Math.max(0, nextMs), undefined, { signal }).catch(() => {});
  }
  return samples;
}

function memoryOf(samples: readonly MemorySample[]): ProcessMemory {
  const first = samples[0]!;
  const { hours, cpuSeconds, ...last } = samples.at(-1)!;
  const slopeOf = (read: (sample: MemorySample) => number) =>
    fitSlope(samples.map((sample) => ({ hours: sample.hours, value: read(sample) })));
  return {
    ...last,
    inUse: slopeOf(({ inUseMb }) => inUseMb),
    resident: slopeOf(({ residentMb }) => residentMb),
    processorShare: (cpuSeconds - first.cpuSeconds) / ((hours - first.hours) * 3_600),
  };
}

/** The processes whose memory in use grows faster than `limit`, in MB per hour, beyond two standard errors. */
export function findGrowing({ processes }: SoakResult, limit: number): string[] {
  return processes
    .filter(({ inUse: { perHour, error } }) => perHour - 2 * error > limit)
    .map(({ name }) => name);
}
