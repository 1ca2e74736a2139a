import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { median } from '../../deploy/local/testing/statistics.ts';
import { barChart } from '../chart.ts';
import { type Environment, environmentLines } from '../report.ts';
import type { Contestant } from './contestant.ts';
import { ADD_ONS, bareOf, COMMON_WORKLOADS, type Workload } from './workloads.ts';

/** The measurement of one contestant in one round. */
export interface Sample {
  readonly workload: Workload;
  readonly contestant: string;
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /** CPU time divided by elapsed time. Far below 1: other programs used the core or delayed the load. */
  readonly coreShare: number;
}

/** One contestant with one workload: medians over the rounds, each compared within its round. */
export interface Summary {
  readonly workload: Workload;
  readonly contestant: string;
  /** CPU time of raw with the bare workload, divided by that of this contestant. More is better. */
  readonly ratioToRaw: number;
  /** CPU time of the bare workload, of this contestant or the framework that it is built on. */
  readonly bareMicros: number;
  /** CPU time in addition to that of the bare workload. */
  readonly costMicros: number;
  readonly coreShare: number;
}

/** Compares the samples, by contestant and workload. */
export function summarize(
  samples: readonly Sample[],
  contestants: ReadonlyMap<string, Contestant>,
): readonly Summary[] {
  const groups = Map.groupBy(samples, ({ workload, contestant }) => `${workload} ${contestant}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { workload, contestant } = first;
    const over = contestants.get(contestant)?.over ?? contestant;
    const compared = group.map(({ round, cpuMicrosPerRequest: micros }) => {
      const inRound = samples.filter(
        (sample) => sample.round === round && sample.workload === bareOf(workload),
      );
      const bareMicrosOf = (name: string) =>
        inRound.find((sample) => sample.contestant === name)?.cpuMicrosPerRequest ?? Number.NaN;
      return { micros, bare: bareMicrosOf(over), raw: bareMicrosOf('raw') };
    });
    return {
      workload,
      contestant,
      ratioToRaw: median(compared.map(({ micros, raw }) => raw / micros)),
      bareMicros: median(compared.map(({ bare }) => bare)),
      costMicros: median(compared.map(({ micros, bare }) => micros - bare)),
      coreShare: median(group.map((sample) => sample.coreShare)),
    };
  });
}

/** The ratios of every contestant that has all measured common workloads, highest mean first. */
function ratiosOf(summaries: readonly Summary[]) {
  const workloads = COMMON_WORKLOADS.filter((name) =>
    summaries.some(({ workload }) => workload === name),
  );
  const contestants = [...Map.groupBy(summaries, ({ contestant }) => contestant)]
    .map(([contestant, own]) => {
      const ratios = workloads.flatMap(
        (name) => own.find(({ workload }) => workload === name)?.ratioToRaw ?? [],
      );
      return { contestant, ratios, mean: mean(ratios) };
    })
    .filter(({ ratios }) => ratios.length === workloads.length)
    .sort((a, b) => b.mean - a.mean);
  return { workloads, contestants };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The cost of each add-on per contestant; the contestants with the most add-ons first. */
function addOnTable(summaries: readonly Summary[]): string {
  const costs = summaries
    .filter(({ workload }) => workload !== bareOf(workload))
    .toSorted((a, b) => a.costMicros - b.costMicros);
  const contestants = [...Map.groupBy(costs, ({ contestant }) => contestant)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  const rows = ADD_ONS.filter((name) => costs.some(({ workload }) => workload === name)).map(
    (name) => [
      name,
      ...contestants.map(([, own]) => {
        const cost = own.find(({ workload }) => workload === name);
        if (!cost) return '';
        const percent = (cost.costMicros / cost.bareMicros) * 100;
        return `${cost.costMicros.toFixed(2)} (${percent.toFixed()} %)`;
      }),
    ],
  );
  return markdownTable(['', ...contestants.map(([name]) => name)], rows);
}

/** The section of bench/README.md: ratios of the common workloads, and the cost of each add-on. */
export function httpSection(results: {
  readonly environment: Environment;
  readonly rounds: number;
  readonly summaries: readonly Summary[];
}): string {
  const { workloads, contestants } = ratiosOf(results.summaries);
  return [
    environmentLines(results.environment),
    `Medians of ${results.rounds} rounds. CPU time per request of \`node:http\` divided by that of ` +
      'the framework, in the same round: more is better.',
    markdownTable(
      ['', ...workloads],
      contestants.map(({ contestant, ratios }) => [
        contestant,
        ...ratios.map((ratio) => ratio.toFixed(2)),
      ]),
    ),
    'Cost of an add-on per request, in µs of CPU time and in percent of the request without it: less is better.',
    addOnTable(results.summaries),
  ].join('\n\n');
}

/** A chart of the mean ratio of the common workloads, highest first. */
export function speedChart(summaries: readonly Summary[]): string {
  const bars = ratiosOf(summaries).contestants.map(({ contestant, mean }) => ({
    label: contestant === 'raw' ? 'node:http' : contestant,
    value: mean,
  }));
  return barChart(bars, { title: TITLE, emphasis: 'fw' });
}

const TITLE = 'Speed relative to node:http: CPU time per request, mean of five workloads';
