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

/** What was found out about an endpoint. */
export interface EndpointSummary {
  readonly service: ServiceName;
  readonly store: StoreName;
  readonly endpoint: string;
  /** As in production: with log, metrics, request ids and time-outs. */
  readonly production: Comparison;
  readonly bare: Comparison;
  /** As in production, and behind nginx. */
  readonly edge: Comparison;
  /** What production adds to the processor time of the bare request, as a part of it. */
  readonly overhead: number;
  readonly fastifyOverhead: number;
  /** The least part of its core that a contestant had in a direct slice, as a median. */
  readonly coreShare: number;
}

/** One summary per endpoint, in the order in which they were measured. */
export function summarize(samples: readonly Sample[]): readonly EndpointSummary[] {
  const groups = Map.groupBy(samples, ({ service, store, endpoint }) =>
    [service, store, endpoint].join('\n'),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { service, store, endpoint } = first;
    return {
      service,
      store,
      endpoint,
      production: compare(laneOf(group, 'fw'), laneOf(group, 'fastify')),
      bare: compare(laneOf(group, 'fw-bare'), laneOf(group, 'fastify-bare')),
      edge: compare(laneOf(group, 'fw', 'edge'), laneOf(group, 'fastify', 'edge')),
      overhead: overheadOf(laneOf(group, 'fw'), laneOf(group, 'fw-bare')),
      fastifyOverhead: overheadOf(laneOf(group, 'fastify'), laneOf(group, 'fastify-bare')),
      coreShare: Math.min(
        ...(['fw', 'fastify', 'fw-bare', 'fastify-bare'] as const).map((contestant) =>
          median(laneOf(group, contestant).map(({ coreShare }) => coreShare)),
        ),
      ),
    };
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
