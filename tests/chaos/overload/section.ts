import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import { canPin } from './cores.ts';
import type { Measurement } from './experiment.ts';

/** One line of the table. */
export interface Row {
  readonly name: string;
  readonly measurement: Measurement;
  /** The highest goodput at any rate, per second. */
  readonly peak: number;
}

const HEAD = [
  ...[
    'Load',
    'Requests/s',
    'Goodput/s',
    'Of the peak',
    '503',
    'Other errors',
    'None',
    'p50',
    'p99',
  ],
  ...['Critical', 'Health', 'Wasted'],
];

/** The section `overload` of docs/failures.md. */
export function renderOverload(
  rows: readonly Row[],
  { recoveryMs, stolen }: { readonly recoveryMs: number; readonly stolen: number },
): string {
  const pinning = canPin
    ? 'The services share one core; the edge and the clients share another.'
    : 'The processes are not bound to cores.';
  const lateMs = Math.max(...rows.map(({ measurement }) => measurement.result.maxLateMs));
  return `One replica of users on SQLite. ${pinning} 90 %
of the requests list 100 users, 10 % create a user; 50 critical requests per second read a user. They arrive at random
times, whether or not earlier ones have a response. A client leaves after 1 s, a tenth of the clients within 100 ms.
Goodput: responses with 2xx before the client leaves. Timed out: no response within a second. p50 and p99: latency of
the goodput. Wasted: handled requests whose client had left before the response was sent. No request was sent more than
${lateMs.toFixed(0)} ms late; other virtual machines used ${percent(stolen)} of the processor time. The rows with "directly" are without the edge.

${markdownTable(HEAD, rows.map(cellsOf))}

After five times the capacity, the system serves at least 99 % of half the capacity within ${(recoveryMs / 1_000).toFixed(1)} s.`;
}

function cellsOf({ name, measurement, peak }: Row): string[] {
  const { load, critical, health, wasted } = measurement;
  const { rejected, failed, timedOut } = load.counts;
  const total = Object.values(load.counts).reduce((sum, count) => sum + count);
  return [
    ...[name, load.offered.toFixed(0), load.goodput.toFixed(0), percent(load.goodput / peak)],
    ...[percent(rejected / total), percent(failed / total), percent(timedOut / total)],
    ...[`${load.p50Ms.toFixed(0)} ms`, `${load.p99Ms.toFixed(0)} ms`],
    ...[percent(critical), percent(health), percent(wasted)],
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
