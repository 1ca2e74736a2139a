import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import { median } from '../../../deploy/local/testing/statistics.ts';
import { describeStolenTime } from '../../stolen-time.ts';
import { canPin } from './cores.ts';
import type { Measurement } from './experiment.ts';
import { PERIOD_MS } from './load.ts';

/** The measurement of one round. */
export interface Sample {
  /** Such as `edge, 5×`. */
  readonly name: string;
  readonly measurement: Measurement;
  /** The higher goodput of the two lower rates of the round. */
  readonly peak: number;
}

const HEAD = [
  ...['Load', 'Requests/s', 'Goodput/s', 'Of the peak', '503', 'Other errors', 'None'],
  ...['p50', 'p99', 'Critical', 'Health', 'Wasted'],
];

export interface SectionOptions {
  /** The median time until the system serves normally again. */
  readonly recoveryMs: number;
  /** The share of the needed processor time that other virtual machines took. */
  readonly stolen: number;
}

/** The section `overload` of docs/operations/failures.md. */
export function renderOverload(
  samples: readonly Sample[],
  { recoveryMs, stolen }: SectionOptions,
): string {
  const pinning = canPin
    ? 'The services share one core; the edge and the clients share another.'
    : 'The processes are not bound to cores.';
  const rows = [...Map.groupBy(samples, ({ name }) => name)];
  return `One replica of users on SQLite. ${pinning} 90 % of the
requests list 100 users, 10 % create a user; 50 critical requests per second read a user. They arrive at random
times, whether or not earlier ones have a response. A client leaves after 1 s, a tenth of the clients within 100 ms.
Each value is the median of ${rows[0]?.[1].length ?? 0} rounds. A round first measures the capacity, with 32 connections that each send one
request after another; 1×, 2× and 5× are multiples of it. Goodput: responses with 2xx before the client leaves. Peak: the
higher goodput of 1× and 2× in the same round. None: no response within a second; the other clients left. p50 and
p99: latency of the goodput. Wasted: handled requests whose client had left before the response was sent. The rows
with "directly" are without the edge. ${describeStolenTime(stolen)}

${markdownTable(
  HEAD,
  rows.map(([name, own]) => [name, ...cellsOf(own)]),
)}

${((recoveryMs + PERIOD_MS) / 1_000).toFixed(1)} s after a load of five times the capacity ends, the system again serves half its capacity with at most 1 % errors.`;
}

function cellsOf(samples: readonly Sample[]): string[] {
  const of = (read: (sample: Sample) => number) => median(samples.map(read));
  const shareOf = (outcome: 'rejected' | 'failed' | 'timedOut') =>
    percent(of(({ measurement: { load } }) => load.counts[outcome] / total(load.counts)));
  return [
    of(({ measurement }) => measurement.load.offered).toFixed(0),
    of(({ measurement }) => measurement.load.goodput).toFixed(0),
    percent(of(goodputShare)),
    ...(['rejected', 'failed', 'timedOut'] as const).map(shareOf),
    `${of(({ measurement }) => measurement.load.p50Ms).toFixed(0)} ms`,
    `${of(({ measurement }) => measurement.load.p99Ms).toFixed(0)} ms`,
    percent(of(({ measurement }) => measurement.critical)),
    percent(of(({ measurement }) => measurement.health)),
    percent(of(({ measurement }) => measurement.wasted)),
  ];
}

/** The goodput as a share of the peak. */
export function goodputShare({ measurement, peak }: Sample): number {
  return measurement.load.goodput / peak;
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
