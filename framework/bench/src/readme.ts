import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

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
}

const WORKLOADS = ['hello', 'parameter', 'post', 'list', 'middlewares'];

/** The ratios to raw of every contestant, the best sum first. */
export function ratioTable({ summaries }: HttpResults): string {
  const ratioOf = (contestant: string, workload: string) =>
    summaries.find((each) => each.contestant === contestant && each.workload === workload)
      ?.ratioToRaw ?? 0;
  const sumOf = (contestant: string) =>
    WORKLOADS.reduce((sum, workload) => sum + ratioOf(contestant, workload), 0);
  const contestants = [...new Set(summaries.map(({ contestant }) => contestant))].sort(
    (a, b) => sumOf(b) - sumOf(a),
  );
  return markdownTable(
    ['', ...WORKLOADS],
    contestants.map((name) => [
      name,
      ...WORKLOADS.map((workload) => ratioOf(name, workload).toFixed(2)),
    ]),
  );
}

/** Puts the latest results of whole runs between the marks in the README of the repository. */
export function writeReadme(): void {
  const file = resolve(import.meta.dirname, '../../../README.md');
  const http = JSON.parse(readFileSync(resolve(RESULTS, 'http.json'), 'utf8')) as HttpResults;
  const tableOf = (name: string) =>
    readFileSync(resolve(RESULTS, `${name}.md`), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .join('\n');
  const section = [
    ratioTable(http),
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
