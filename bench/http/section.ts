import { barChart } from '../chart.ts';
import { type Environment, environmentLines } from '../report.ts';
import { markdownTable } from '../table.ts';
import { COMMON_WORKLOADS } from './workloads.ts';

export interface HttpResults {
  readonly environment: Environment;
  readonly settings: { readonly rounds: number };
  readonly summaries: readonly {
    readonly workload: string;
    readonly contestant: string;
    readonly ratioToRaw: number;
  }[];
  readonly prices: readonly {
    readonly workload: string;
    readonly contestant: string;
    readonly priceMicros: number;
  }[];
}

const ADD_ONS = ['validated', 'limited', 'observed', 'controller'];

/** The ratios to raw of every contestant that has the common workloads, the best sum first. */
export function ratioTable({ summaries }: HttpResults): string {
  const ratioOf = (contestant: string, workload: string) =>
    summaries.find((each) => each.contestant === contestant && each.workload === workload)
      ?.ratioToRaw ?? 0;
  const sumOf = (contestant: string) =>
    COMMON_WORKLOADS.reduce((sum, workload) => sum + ratioOf(contestant, workload), 0);
  const contestants = [...new Set(summaries.map(({ contestant }) => contestant))]
    .filter((name) => COMMON_WORKLOADS.every((workload) => ratioOf(name, workload) > 0))
    .sort((a, b) => sumOf(b) - sumOf(a));
  return markdownTable(
    ['', ...COMMON_WORKLOADS],
    contestants.map((name) => [
      name,
      ...COMMON_WORKLOADS.map((workload) => ratioOf(name, workload).toFixed(2)),
    ]),
  );
}

/** What each add-on costs each contestant that has it, the lowest price of the first add-on first. */
export function priceTable({ prices }: Pick<HttpResults, 'prices'>): string {
  const priceOf = (contestant: string, workload: string) =>
    prices.find((each) => each.contestant === contestant && each.workload === workload)
      ?.priceMicros;
  const order = ADD_ONS.flatMap((workload) =>
    prices
      .filter((each) => each.workload === workload)
      .toSorted((a, b) => a.priceMicros - b.priceMicros),
  );
  const contestants = [...new Set(order.map(({ contestant }) => contestant))];
  return markdownTable(
    ['', ...ADD_ONS],
    contestants.map((name) => [
      name,
      ...ADD_ONS.map((workload) => priceOf(name, workload)?.toFixed(2) ?? ''),
    ]),
  );
}

/** The section of bench/README.md: ratios of the common workloads, and what each add-on costs. */
export function httpSection(results: HttpResults): string {
  return [
    environmentLines(results.environment),
    `Medians of ${results.settings.rounds} rounds. CPU time per request of \`node:http\` divided by that of ` +
      'the framework, in the same round: more is better.',
    ratioTable(results),
    'What an add-on costs per request, in µs of CPU time: less is better.',
    priceTable(results),
  ].join('\n\n');
}

/** The mean ratio of the common workloads as a chart, the best first. */
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
