import { median } from '../statistics.ts';
import type { Contestant, StoreName } from './contestant.ts';
import type { ServiceName } from './endpoint.ts';
import type { Sample, Way } from './measure.ts';

/** One endpoint on both frameworks: medians, and the median of the ratios within a round. */
export interface Comparison {
  readonly fwMicros: number;
  readonly fastifyMicros: number;
  /** Fastify's processor time per request by ours: above 1, ours is the faster one. */
  readonly ratio: number;
  readonly fwPerSecond: number;
  readonly fastifyPerSecond: number;
}

/** Which endpoint something was found out about. */
export interface Measured {
  readonly service: ServiceName;
  readonly store: StoreName;
  readonly endpoint: string;
}

/** How an endpoint compares to the same one on fastify. */
export interface EndpointSummary extends Measured {
  /** As in production: with log, metrics, request ids and time-outs. */
  readonly production: Comparison;
  readonly bare: Comparison;
  /** As in production, and behind nginx. */
  readonly edge: Comparison;
  /** What production adds to the processor time of fastify's bare request, as a part of it. */
  readonly fastifyOverhead: number;
  /** The least part of its core that a contestant had in a direct slice, as a median. */
  readonly coreShare: number;
}

/** What ours costs more than bare, as parts of the processor time of the bare request. */
export interface CostSummary extends Measured {
  readonly bareMicros: number;
  /** Of log, metrics and request ids. */
  readonly observation: number;
  /** Of these and all else of production. */
  readonly production: number;
}

/** One summary per endpoint that was measured on fastify too, in the order of their measurement. */
export function summarize(samples: readonly Sample[]): readonly EndpointSummary[] {
  return summarizeEach(samples, (measured, group) => {
    if (!group.some(({ contestant }) => contestant === 'fastify')) return [];
    return {
      ...measured,
      production: compare(laneOf(group, 'fw'), laneOf(group, 'fastify')),
      bare: compare(laneOf(group, 'fw-bare'), laneOf(group, 'fastify-bare')),
      edge: compare(laneOf(group, 'fw', 'edge'), laneOf(group, 'fastify', 'edge')),
      fastifyOverhead: overheadOf(laneOf(group, 'fastify'), laneOf(group, 'fastify-bare')),
      coreShare: Math.min(
        ...(['fw', 'fastify', 'fw-bare', 'fastify-bare'] as const).map((contestant) =>
          median(laneOf(group, contestant).map(({ coreShare }) => coreShare)),
        ),
      ),
    };
  });
}

/** One summary per endpoint, in the order of their measurement. */
export function summarizeCosts(samples: readonly Sample[]): readonly CostSummary[] {
  return summarizeEach(samples, (measured, group) => {
    const bare = laneOf(group, 'fw-bare');
    return {
      ...measured,
      bareMicros: median(bare.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest)),
      observation: overheadOf(laneOf(group, 'fw-observed'), bare),
      production: overheadOf(laneOf(group, 'fw'), bare),
    };
  });
}

function summarizeEach<Summary>(
  samples: readonly Sample[],
  summarizeOne: (measured: Measured, group: readonly Sample[]) => Summary | readonly Summary[],
): readonly Summary[] {
  const groups = Map.groupBy(samples, ({ service, store, endpoint }) =>
    [service, store, endpoint].join('\n'),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { service, store, endpoint } = first;
    return summarizeOne({ service, store, endpoint }, group);
  });
}

function laneOf(samples: readonly Sample[], contestant: Contestant, way: Way = 'direct') {
  return samples
    .filter((sample) => sample.contestant === contestant && sample.way === way)
    .toSorted((a, b) => a.round - b.round);
}

function compare(fw: readonly Sample[], fastify: readonly Sample[]): Comparison {
  return {
    fwMicros: median(fw.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest)),
    fastifyMicros: median(fastify.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest)),
    ratio: median(ratios(fastify, fw)),
    fwPerSecond: median(fw.map(({ requestsPerSecond }) => requestsPerSecond)),
    fastifyPerSecond: median(fastify.map(({ requestsPerSecond }) => requestsPerSecond)),
  };
}

function overheadOf(whole: readonly Sample[], bare: readonly Sample[]): number {
  return median(ratios(whole, bare)) - 1;
}

/** The processor time of `some` by that of `others`, round by round. */
function ratios(some: readonly Sample[], others: readonly Sample[]): readonly number[] {
  return some.flatMap(({ cpuMicrosPerRequest }, round) => {
    const other = others[round];
    return other ? [cpuMicrosPerRequest / other.cpuMicrosPerRequest] : [];
  });
}
