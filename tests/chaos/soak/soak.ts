import path from 'node:path';

import { type LoadResult, runLoad } from '../../../deploy/k6/run.ts';
import type { TrialSystem } from '../../../deploy/local/testing/trial-system.ts';
import { type MemorySample, sampleMemory } from './sample-memory.ts';
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

/** The memory of one process after the warm-up. */
export interface ProcessMemory {
  readonly name: string;
  /** Memory in use at the end: see `MemorySample`. */
  readonly inUseMb: number;
  /** Slope of the memory in use, in MB per hour. */
  readonly inUse: Slope;
  /** Memory that the operating system assigned at the end. */
  readonly residentMb: number;
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
  return {
    load,
    processes: Object.entries(byName).map(([name, own = []]) => memoryOf(name, own)),
  };
}

function memoryOf(name: string, samples: readonly MemorySample[]): ProcessMemory {
  const first = samples[0]!;
  const last = samples.at(-1)!;
  const slopeOf = (read: (sample: MemorySample) => number) =>
    fitSlope(samples.map((sample) => ({ hours: sample.hours, value: read(sample) })));
  return {
    name,
    inUseMb: last.inUseMb,
    inUse: slopeOf(({ inUseMb }) => inUseMb),
    residentMb: last.residentMb,
    resident: slopeOf(({ residentMb }) => residentMb),
    processorShare: (last.cpuSeconds - first.cpuSeconds) / ((last.hours - first.hours) * 3_600),
  };
}

/** The processes whose memory in use grows faster than `limit`, in MB per hour, beyond two standard errors. */
export function findGrowing({ processes }: SoakResult, limit: number): string[] {
  return processes
    .filter(({ inUse: { perHour, error } }) => perHour - 2 * error > limit)
    .map(({ name }) => name);
}
