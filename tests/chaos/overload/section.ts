import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import { median } from '../../../deploy/local/testing/statistics.ts';
import { describeStolenTime } from '../../stolen-time.ts';
import type { Measurement } from './experiment.ts';
import { canPin, PERIOD_MS } from './load.ts';

/** The measurement of one round. */
export interface Sample {
  /** Such as `edge, 5×`. */
  readonly name: string;
  readonly measurement: Measurement;
  /** The higher goodput of the two lower rates of the round. */
  readonly peak: number;
}

const HEAD = [
  ...['Load', 'Requests/s', 'Goodput/s', 'Of the peak', 'Rejected', 'Other errors', 'None'],
  ...['p50', 'p99', 'Critical', 'Health', 'Wasted'],
];

export interface SectionOptions {
  /** The median time until the system serves normally again, through the slowest way with a limit. */
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
    ? 'The services share one core; the edge, Traefik and the clients share another.'
    : 'The processes are not bound to cores.';
  const byName = Map.groupBy(samples, ({ name }) => name);
  const rows = [...byName].map(([name, own]) => [name, ...cellsOf(own)]);
  const rounds = samples.length / byName.size;
  return `${pinning} Each value is the median of ${rounds} rounds. ${describeStolenTime(stolen)}

${markdownTable(HEAD, rows)}

${((recoveryMs + PERIOD_MS) / 1_000).toFixed(1)} s after the highest load through a limit ends, the system again serves half its capacity with at most 1 % errors.`;
}

function cellsOf(samples: readonly Sample[]): string[] {
  const of = (read: (measurement: Measurement) => number) =>
    median(samples.map(({ measurement }) => read(measurement)));
  const shareOf = (outcome: 'rejected' | 'failed' | 'timedOut') =>
    percent(
      of(({ load: { counts } }) => counts[outcome] / Object.values(counts).reduce((a, b) => a + b)),
    );
  return [
    of(({ load }) => load.offered).toFixed(0),
    of(({ load }) => load.goodput).toFixed(0),
    percent(median(samples.map(goodputShare))),
    ...(['rejected', 'failed', 'timedOut'] as const).map(shareOf),
    latency(of(({ load }) => load.p50Ms)),
    latency(of(({ load }) => load.p99Ms)),
    percent(of(({ critical }) => critical)),
    percent(of(({ health }) => health)),
    percent(of(({ wasted }) => wasted)),
  ];
}

/** The goodput as a share of the peak. */
export function goodputShare({ measurement, peak }: Sample): number {
  return measurement.load.goodput / peak;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** A dash if no request was served. */
function latency(ms: number): string {
  return Number.isNaN(ms) ? '–' : `${ms.toFixed(0)} ms`;
}
