import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { barChart } from '../chart.ts';
import { type Environment, environmentLines } from '../report.ts';
import { BARE, COMMON_WORKLOADS, WORKLOADS } from './workloads.ts';

export interface HttpResults {
  readonly environment: Environment;
  readonly settings: { readonly rounds: number };
  readonly summaries: readonly {
    readonly workload: string;
    readonly contestant: string;
    readonly ratioToRaw: number;
  }[];
  readonly addOnCosts: readonly {
    readonly workload: string;
    readonly contestant: string;
    readonly bareMicros: number;
    readonly costMicros: number;
  }[];
}

const ADD_ONS = WORKLOADS.filter((workload) => BARE[workload] !== undefined);

/** The ratios of every contestant that has all measured common workloads, highest sum first. */
function ratioTable({ summaries }: HttpResults): string {
  const workloads = COMMON_WORKLOADS.filter((name) =>
    summaries.some(({ workload }) => workload === name),
  );
  const ratioOf = (contestant: string, workload: string) =>
    summaries.find((each) => each.contestant === contestant && each.workload === workload)
      ?.ratioToRaw ?? 0;
  const sumOf = (contestant: string) =>
    workloads.reduce((sum, workload) => sum + ratioOf(contestant, workload), 0);
  const contestants = [...new Set(summaries.map(({ contestant }) => contestant))]
    .filter((name) => workloads.every((workload) => ratioOf(name, workload) > 0))
    .sort((a, b) => sumOf(b) - sumOf(a));
  return markdownTable(
    ['', ...workloads],
    contestants.map((name) => [
      name,
      ...workloads.map((workload) => ratioOf(name, workload).toFixed(2)),
    ]),
  );
}

/** The cost of each add-on per contestant; the contestants with the most add-ons first. */
function addOnTable({ addOnCosts }: Pick<HttpResults, 'addOnCosts'>): string {
  const costs = Map.groupBy(addOnCosts, ({ contestant }) => contestant);
  const contestants = [...costs].sort(([, a], [, b]) => b.length - a.length);
  const measured = ADD_ONS.filter((name) => addOnCosts.some(({ workload }) => workload === name));
  const costOf = (own: HttpResults['addOnCosts'], workload: string) => {
    const cost = own.find((each) => each.workload === workload);
    if (!cost) return '';
    const percent = (cost.costMicros / cost.bareMicros) * 100;
    return `${cost.costMicros.toFixed(2)} (${percent.toFixed()} %)`;
  };
  return markdownTable(
    ['', ...contestants.map(([name]) => name)],
    measured.map((workload) => [workload, ...contestants.map(([, own]) => costOf(own, workload))]),
  );
}

/** The section of bench/README.md: ratios of the common workloads, and the cost of each add-on. */
export function httpSection(results: HttpResults): string {
  return [
    environmentLines(results.environment),
    `Medians of ${results.settings.rounds} rounds. CPU time per request of \`node:http\` divided by that of ` +
      'the framework, in the same round: more is better.',
    ratioTable(results),
    'Cost of an add-on per request, in µs of CPU time and in percent of the request without it: less is better.',
    addOnTable(results),
  ].join('\n\n');
}

/** A chart of the mean ratio of the common workloads, highest first. */
export function speedChart({ summaries }: Pick<HttpResults, 'summaries'>): string {
  const names: readonly string[] = COMMON_WORKLOADS;
  const common = summaries.filter(({ workload }) => names.includes(workload));
  const bars = [...Map.groupBy(common, ({ contestant }) => contestant)]
    .filter(([, own]) => own.length === names.length)
    .map(([contestant, own]) => ({
      label: contestant === 'raw' ? 'node:http' : contestant,
      value: own.reduce((sum, { ratioToRaw }) => sum + ratioToRaw, 0) / own.length,
    }))
    .toSorted((a, b) => b.value - a.value);
  return barChart(bars, { title: TITLE, emphasis: 'fw' });
}

const TITLE = 'Speed relative to node:http: CPU time per request, mean of five workloads';
