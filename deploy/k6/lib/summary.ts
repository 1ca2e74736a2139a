import { KINDS, type Kind } from './slo.ts';

/** What k6 hands to `handleSummary`, as far as it is read here. */
export interface SummaryData {
  readonly metrics: Readonly<Record<string, SummaryMetric>>;
  readonly state: { readonly testRunDurationMs: number };
}

interface SummaryMetric {
  readonly values: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}

/** An objective, and what came of it. */
interface Verdict {
  readonly metric: string;
  /** As k6 takes it: `p(95)<250`. */
  readonly expression: string;
  readonly value: number;
  readonly ok: boolean;
}

/** What a run came to for one kind of request. */
interface KindOutcome {
  readonly kind: Kind;
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly verdicts: readonly Verdict[];
}

/** What a run came to, for programs: the file that `SUMMARY` names. */
export interface Outcome {
  readonly profile: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly requests: number;
  readonly failed: number;
  readonly dropped: number;
  readonly kinds: readonly KindOutcome[];
  /** The objectives of all kinds together. */
  readonly verdicts: readonly Verdict[];
}

/** What k6 calls at the end of a script: text for the reader, and a file for programs if `SUMMARY` names one. */
export function summaryOf(profile: string): (data: SummaryData) => Record<string, string> {
  return (data) => {
    const outcome = readOutcome(profile, data);
    const file = __ENV.SUMMARY;
    return {
      stdout: renderOutcome(outcome),
      ...(file && { [file]: `${JSON.stringify(outcome, undefined, 2)}\n` }),
    };
  };
}

/** Reads what a run came to from what k6 has counted. */
export function readOutcome(profile: string, { metrics, state }: SummaryData): Outcome {
  const figure = (metric: string, name: string) => metrics[metric]?.values[name] ?? 0;
  const verdictsOf = (metric: string): Verdict[] =>
    inOrder(metrics[metric]?.thresholds ?? {}).map(([expression, { ok }]) => {
      const [name = ''] = /^[a-z]+(\(\d+\))?/.exec(expression) ?? [];
      return { metric, expression, value: figure(metric, name), ok };
    });

  const kinds = KINDS.filter((kind) => `http_reqs{name:${kind}}` in metrics).map((kind) => {
    const [requests, failed, duration] = ['http_reqs', 'http_req_failed', 'http_req_duration'].map(
      (metric) => `${metric}{name:${kind}}`,
    ) as [string, string, string];
    return {
      kind,
      requests: figure(requests, 'count'),
      // Of a rate, k6 calls those a pass for which it holds: here those that failed.
      failed: figure(failed, 'passes'),
      p50Ms: figure(duration, 'med'),
      p95Ms: figure(duration, 'p(95)'),
      p99Ms: figure(duration, 'p(99)'),
      verdicts: [requests, failed, duration].flatMap(verdictsOf),
    };
  });
  const verdicts = inOrder(metrics)
    .map(([metric]) => metric)
    .filter((metric) => !metric.includes('{'))
    .flatMap(verdictsOf);

  return {
    profile,
    ok: [...verdicts, ...kinds.flatMap((kind) => kind.verdicts)].every(({ ok }) => ok),
    seconds: state.testRunDurationMs / 1_000,
    requests: figure('http_reqs', 'count'),
    failed: figure('http_req_failed', 'passes'),
    dropped: figure('dropped_iterations', 'count'),
    kinds,
    verdicts,
  };
}

/** By name: k6 gives them in another order each time. */
function inOrder<Value>(record: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

const COLUMNS = ['requests', 'failed', 'p50', 'p95', 'p99'];

/** The outcome as text: a line for each kind of request, and for each objective of all together. */
export function renderOutcome(outcome: Outcome): string {
  const { profile, seconds, requests, failed, dropped, kinds, verdicts } = outcome;
  const rate = seconds > 0 ? Math.round(requests / seconds) : 0;
  const width = Math.max(...kinds.map(({ kind }) => kind.length)) + 2;
  const head = ''.padEnd(width) + COLUMNS.map((name) => name.padStart(10)).join('');
  return [
    `${profile}: ${count(requests)} requests in ${seconds.toFixed(1)} s (${count(rate)} a second), ` +
      `${count(failed)} failed, ${count(dropped)} iterations dropped`,
    '',
    head,
    ...kinds.flatMap((kind) => [
      renderKind(kind, width),
      ...kind.verdicts.filter(({ ok }) => !ok).map((verdict) => `    ${renderVerdict(verdict)}`),
    ]),
    '',
    ...verdicts.map((verdict) => `${mark(verdict.ok)} ${renderVerdict(verdict)}`),
    '',
  ].join('\n');
}

function renderKind(outcome: KindOutcome, width: number): string {
  const { kind, requests, failed, p50Ms, p95Ms, p99Ms, verdicts } = outcome;
  const cells = [count(requests), count(failed), ...[p50Ms, p95Ms, p99Ms].map(milliseconds)];
  const ok = verdicts.every((verdict) => verdict.ok);
  return `${mark(ok)} ${kind.padEnd(width - 2)}${cells.map((cell) => cell.padStart(10)).join('')}`;
}

function renderVerdict({ metric, expression, value }: Verdict): string {
  const name = metric.replace(/\{.*/, '');
  return `${name} ${expression}: ${Math.round(value * 1_000) / 1_000}`;
}

function mark(ok: boolean): string {
  return ok ? '✓' : '✗';
}

function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** With a comma between the thousands, which k6's own number formatting cannot. */
function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
