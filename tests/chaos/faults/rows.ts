import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import { EXPECTED, type Expectation, type Promised, RECOVERY_SECONDS } from './expected.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { type Measurement, measure, type Seen } from './measure.ts';
import { type Client, PROBE_NAMES, type ProbeName } from './probes.ts';
import type { FaultySystem, PartName } from './system.ts';

/** One fault of one part, and what the system promises for it. */
export interface Row {
  readonly fault: FaultName;
  readonly expected: Expectation;
}

/** A row that was measured. */
export interface Result extends Row, Measurement {
  /** The differences between what was promised and what was measured. */
  readonly broken: readonly string[];
}

/** All rows of a part. */
export function rowsOf(part: PartName): Row[] {
  return EXPECTED.filter((expected) => expected.part === part).flatMap((expected) =>
    expected.faults.map((fault) => ({ fault, expected })),
  );
}

export interface RunOptions {
  readonly system: FaultySystem;
  readonly client: Client;
  /** How long the fault lasts. */
  readonly seconds: number;
}

/** Measures one row, and compares it with the promise. */
export async function runRow(
  { fault, expected }: Row,
  { system, client, seconds }: RunOptions,
): Promise<Result> {
  const { begin, end } = FAULTS[fault];
  const measured = await measure(client, {
    begin: () => begin(system, expected.part),
    end: () => end(system, expected.part),
    ms: seconds * 1_000,
  });
  const ended = system.findEnded().map((name) => `${name} has ended`);
  return { fault, expected, ...measured, broken: [...findBroken(expected, measured), ...ended] };
}

const USUAL: Promised = { outcomes: ['ok'], seconds: 1 };

/** The differences between what was promised and what was measured. */
function findBroken(expected: Expectation, measured: Measurement): string[] {
  const { part, affected, limits = 'exact' } = expected;
  const requests = PROBE_NAMES.flatMap((probe) =>
    findDifference(probe, affected?.[probe] ?? USUAL, measured.seen[probe]),
  );
  const others = (processes: readonly string[]) =>
    [...new Set(processes.map((name) => name.replace(/-\d+$/, '')))]
      .filter((name) => name !== part)
      .join(' and ');
  return [
    ...requests,
    ...difference('others not ready', '', others(measured.notReady)),
    ...difference('others not live', '', others(measured.notLive)),
    ...(limits === 'any' ? [] : difference('limits', limits, limitsOf(measured))),
    ...(measured.recoveryMs > RECOVERY_SECONDS * 1_000
      ? [`recovery: expected ${RECOVERY_SECONDS} s, measured ${seconds(measured.recoveryMs)}`]
      : []),
  ];
}

function findDifference(probe: ProbeName, promised: Promised, seen: Seen): string[] {
  const { outcomes } = seen;
  const isKept =
    outcomes.length > 0 && outcomes.every((outcome) => promised.outcomes.includes(outcome));
  if (isKept && seen.maxMs <= promised.seconds * 1_000) return [];
  const expected = `${promised.outcomes.join(' or ')} within ${promised.seconds} s`;
  return [`${probe}: expected ${expected}, measured ${describeSeen(seen)}`];
}

function difference(name: string, expected: string, measured: string): string[] {
  if (expected === measured) return [];
  return [`${name}: expected ${expected || 'none'}, measured ${measured || 'none'}`];
}

/** How the limits counted at the end of the fault. */
function limitsOf({ isLimitExact }: Measurement): 'exact' | 'per replica' {
  return isLimitExact ? 'exact' : 'per replica';
}

/** A line of progress: what was measured, and whether it was promised. */
export function describeResult({ fault, expected, broken, ...measured }: Result): string {
  const requests = PROBE_NAMES.filter((probe) => expected.affected?.[probe])
    .map((probe) => `${probe} ${describeSeen(measured.seen[probe])}; `)
    .join('');
  const verdict = broken.length === 0 ? 'as expected' : `NOT AS EXPECTED: ${broken.join('; ')}`;
  return `${expected.part} ${fault}: ${requests}recovered in ${duration(measured.recoveryMs)}; ${verdict}`;
}

/** The outcomes, with the median and the longest time: `503 in 12 ms, at most 5.2 s`. */
function describeSeen({ outcomes, medianMs, maxMs }: Seen): string {
  if (outcomes.length === 0) return 'no response during the fault';
  return `${outcomes.join(' or ')} in ${duration(medianMs)}, at most ${duration(maxMs)}`;
}

/** Such as `12 ms` or `5.2 s`. */
function duration(ms: number): string {
  return ms < 995 ? `${Math.ceil(ms)} ms` : seconds(ms);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

const COLUMNS: readonly { readonly title: string; readonly probes: readonly ProbeName[] }[] = [
  { title: 'users', probes: ['read users', 'create user'] },
  { title: 'catalog', probes: ['catalog'] },
  { title: 'report', probes: ['report'] },
];

/** The table of all results: faults with the same consequences are one row. */
export function createTable(results: readonly Result[]): string {
  const groups = [...Map.groupBy(results, ({ expected }) => expected).values()];
  const head = ['Fault', ...COLUMNS.map(({ title }) => title), 'Rate limit', 'Recovery'];
  return markdownTable(head, groups.map(rowOf));
}

function rowOf(results: readonly Result[]): string[] {
  const [first] = results;
  if (!first) return [];
  const { part } = first.expected;
  const limits = new Set(results.map(limitsOf));
  return [
    `${part}: ${results.map(({ fault }) => fault).join(', ')}`,
    ...COLUMNS.map(({ probes }) => cellOf(probes, results)),
    [...limits].join(' or '),
    duration(Math.max(...results.map(({ recoveryMs }) => recoveryMs))),
  ];
}

/** Empty if every request succeeded within a second. */
function cellOf(probes: readonly ProbeName[], results: readonly Result[]): string {
  const affected = probes.filter((probe) =>
    results.some(({ expected }) => expected.affected?.[probe]),
  );
  if (affected.length === 0) return '';
  const seen = merge(results.flatMap((result) => affected.map((probe) => result.seen[probe])));
  const [only] = affected.length < probes.length ? affected : [];
  return `${only ? `${only}: ` : ''}${describeSeen(seen)}`;
}

function merge(seen: readonly Seen[]): Seen {
  return {
    outcomes: [...new Set(seen.flatMap(({ outcomes }) => outcomes))].sort(),
    medianMs: Math.max(...seen.map(({ medianMs }) => medianMs)),
    maxMs: Math.max(...seen.map(({ maxMs }) => maxMs)),
  };
}
