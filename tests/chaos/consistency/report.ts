import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import type { Bug } from './planted-bugs.ts';
import type { Store } from './system.ts';
import type { RunResult } from './workload.ts';

export type Results = ReadonlyMap<Store | Bug, RunResult>;

/** The section of docs/operations/failures.md. */
export function renderReport(
  results: Results,
  stores: readonly Store[],
  bugs: readonly Bug[],
): string {
  return [
    'Two replicas, 64 concurrent requests.',
    '',
    'Clients create, read, change and delete users through the edge while processes are killed (replicas,',
    'PostgreSQL), parts of the system are cut off (suspended replicas and servers, a connection to PostgreSQL',
    'that resets or hangs) and connections are reset. [Porcupine](https://github.com/anishathalye/porcupine)',
    'checks that the responses are those of a service that executes one operation after the other.',
    'A request without a response, or with 502, 503 or 504, may take effect at any later time.',
    '',
    markdownTable(
      ['', ...stores],
      ROWS.map(([title, read]) => [
        title,
        ...stores.map((store) => textOf(results.get(store), read)),
      ]),
    ),
    '',
    'The same test finds bugs that are planted in the store:',
    '',
    markdownTable(
      ['Bug', 'Operations until it is found', 'Violations'],
      bugs.map((bug) => [
        bug,
        textOf(results.get(bug), ({ verdict }) => verdict.firstViolationAfter),
        textOf(results.get(bug), ({ verdict }) => verdict.violations),
      ]),
    ),
  ].join('\n');
}

const ROWS: readonly (readonly [string, (result: RunResult) => number])[] = [
  ['Operations', ({ verdict }) => verdict.operations],
  ['of these with unknown outcome', ({ verdict }) => verdict.unknown],
  ['Processes killed', ({ faults }) => faults.kill],
  ['Partitions', ({ faults }) => faults.partition],
  ['Resets of all connections', ({ faults }) => faults.reset],
  ['Histories checked', ({ verdict }) => verdict.groups],
  ['Duration in seconds', ({ seconds }) => Math.round(seconds)],
  ['Violations', ({ verdict }) => verdict.violations],
];

function textOf(result: RunResult | undefined, read: (result: RunResult) => number): string {
  if (!result) throw new Error('Cannot report a run that did not finish');
  return read(result).toLocaleString('en');
}
