import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import type { Seen } from './measure.ts';
import type { ProbeName } from './probes.ts';
import { describeSeen, duration, limitsOf, type Result } from './rows.ts';

const COLUMNS: readonly { readonly title: string; readonly probes: readonly ProbeName[] }[] = [
  { title: 'users', probes: ['read users', 'create user'] },
  { title: 'catalog', probes: ['catalog'] },
  { title: 'report', probes: ['report'] },
];

/** The table of all results: faults with the same consequences are one row. */
export function createTable(results: readonly Result[]): string {
  const groups = [...Map.groupBy(results, ({ expected }) => expected).values()];
  const head = [
    'Fault',
    ...COLUMNS.map(({ title }) => title),
    'Rate limit',
    'Others not ready',
    'Recovery',
  ];
  return markdownTable(head, groups.map(rowOf));
}

function rowOf(results: readonly Result[]): string[] {
  const [first] = results;
  if (!first) return [];
  const { part, othersNotReady = [] } = first.expected;
  const limits = new Set(results.map(limitsOf));
  return [
    `${part}: ${results.map(({ fault }) => fault).join(', ')}`,
    ...COLUMNS.map(({ probes }) => cellOf(probes, results)),
    [...limits].join(' or '),
    othersNotReady.join(', ') || '–',
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
