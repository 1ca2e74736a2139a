import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { median } from '../../deploy/local/testing/statistics.ts';
import { barChart } from '../chart.ts';
import {
  ADD_ONS,
  bareOf,
  COMMON_WORKLOADS,
  COMPARED_WORKLOADS,
  type Workload,
} from './workloads.ts';

/** The measurement of one contestant in one round, while it shares a core with its reference. */
export interface Sample {
  readonly workload: Workload;
  readonly contestant: string;
  readonly round: number;
  /** CPU time per request. */
  readonly cpuMicros: number;
  /** The same of `raw`, or, for an add-on, of the bare workload in the same framework. */
  readonly referenceMicros: number;
}

/** One contestant with one workload: medians over the rounds. */
export interface Summary {
  readonly workload: Workload;
  readonly contestant: string;
  /** CPU time of the reference divided by that of this contestant. More is better. */
  readonly ratio: number;
  /** CPU time in addition to that of the reference. */
  readonly costMicros: number;
  /** The same in percent of the reference. */
  readonly costPercent: number;
}

/** The medians, by contestant and workload. */
export function summarize(samples: readonly Sample[]): readonly Summary[] {
  const groups = Map.groupBy(samples, ({ workload, contestant }) => `${workload} ${contestant}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const medianOf = (compare: (cpu: number, reference: number) => number) =>
      median(group.map(({ cpuMicros, referenceMicros }) => compare(cpuMicros, referenceMicros)));
    return {
      workload: first.workload,
      contestant: first.contestant,
      ratio: medianOf((cpu, reference) => reference / cpu),
      costMicros: medianOf((cpu, reference) => cpu - reference),
      costPercent: medianOf((cpu, reference) => (cpu / reference - 1) * 100),
    };
  });
}

/** The measured ones of `names`, and the ratios of `raw` and of the contestants with any of them, highest mean first. */
function ratiosOf(summaries: readonly Summary[], names: readonly Workload[]) {
  const workloads = names.filter((name) => summaries.some(({ workload }) => workload === name));
  const measured = [...Map.groupBy(summaries, ({ contestant }) => contestant)].map(
    ([contestant, own]) => {
      const ratios = workloads.map((name) => own.find(({ workload }) => workload === name)?.ratio);
      return { contestant, ratios };
    },
  );
  const contestants = [{ contestant: 'raw', ratios: workloads.map(() => 1) }, ...measured]
    .map((row) => ({ ...row, mean: mean(row.ratios.filter((ratio) => ratio !== undefined)) }))
    .filter((row) => row.mean > 0)
    .sort((a, b) => b.mean - a.mean);
  return { workloads, contestants };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The cost of each add-on per contestant; the contestants with the most add-ons first. */
function addOnTable(addOns: readonly Summary[]): string {
  const costs = addOns.toSorted((a, b) => a.costMicros - b.costMicros);
  const contestants = [...Map.groupBy(costs, ({ contestant }) => contestant)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  const rows = ADD_ONS.filter((name) => costs.some(({ workload }) => workload === name)).map(
    (name) => [
      name,
      ...contestants.map(([, own]) => {
        const cost = own.find(({ workload }) => workload === name);
        if (!cost) return '';
        return `${cost.costMicros.toFixed(2)} (${cost.costPercent.toFixed()} %)`;
      }),
    ],
  );
  return markdownTable(['', ...contestants.map(([name]) => name)], rows);
}

/** The lines of the report: ratios to `raw`, and the cost of each add-on. */
export function httpLines(summaries: readonly Summary[], rounds: number): readonly string[] {
  const { workloads, contestants } = ratiosOf(summaries, COMPARED_WORKLOADS);
  const addOns = summaries.filter(({ workload }) => workload !== bareOf(workload));
  const ratios = [
    `Medians of ${rounds} rounds. CPU time per request of \`node:http\` divided by that of ` +
      'the framework, while both share one core: more is better.',
    markdownTable(
      ['', ...workloads],
      contestants.map(({ contestant, ratios }) => [
        contestant,
        ...ratios.map((ratio) => ratio?.toFixed(2) ?? ''),
      ]),
    ),
  ];
  const costs = [
    'Cost of an add-on per request, in µs of CPU time and in percent of the request without it: less is better.',
    addOnTable(addOns),
  ];
  return [...(workloads.length > 0 ? ratios : []), ...(addOns.length > 0 ? costs : [])];
}

/** A chart of the mean ratio of the common workloads, highest first, without contestants that lack one of them. */
export function speedChart(summaries: readonly Summary[]): string {
  const { contestants } = ratiosOf(summaries, COMMON_WORKLOADS);
  const bars = contestants
    .filter(({ ratios }) => !ratios.includes(undefined))
    .map(({ contestant, mean }) => ({
      label: contestant === 'raw' ? 'node:http' : contestant,
      value: mean,
    }));
  return barChart(bars, { title: TITLE, emphasis: 'fw' });
}

const TITLE = 'Speed relative to node:http: CPU time per request, mean of five workloads';
