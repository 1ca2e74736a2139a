import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { COMMON_WORKLOADS } from './http/workloads.ts';
import { type Environment, environmentLines, RESULTS } from './report.ts';
import { markdownTable } from './table.ts';

interface HttpResults {
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

const ADD_ONS = ['validated', 'limited', 'controller'];

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

/** Puts the latest results of whole runs between the marks in the README of the repository. */
export function writeReadme(): void {
  const file = resolve(import.meta.dirname, '../README.md');
  const http = JSON.parse(readFileSync(resolve(RESULTS, 'http.json'), 'utf8')) as HttpResults;
  const tableOf = (name: string) =>
    readFileSync(resolve(RESULTS, `${name}.md`), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .join('\n');
  const section = [
    ratioTable(http),
    'What a validated body, a rate limit and a controller add to a request, in µs of processor time: ' +
      'less is better.',
    priceTable(http),
    'A lookup of the router, in ns of processor time, among 10 / 1,000 / 10,000 routes: less is better.',
    tableOf('router'),
    'From the start of a process to its first answer, in ms: less is better.',
    tableOf('start'),
    `Medians of \`make bench\`, ${http.settings.rounds} rounds and more. ${environmentLines(http.environment)}`,
  ].join('\n\n');
  const readme = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    readme.replace(
      /(<!-- bench -->).*(<!-- \/bench -->)/s,
      (_, start, end) => `${start}\n\n${section}\n\n${end}`,
    ),
  );
}
