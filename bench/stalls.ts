import { median } from '../deploy/local/testing/statistics.ts';
import { readSettings } from './options.ts';
import { PINNING } from './process.ts';
import { publish } from './report.ts';
import { measureTurns } from './turns.ts';

/** Measures the CPU time that the watch for stalls of the event loop needs, and prints a report. */
export async function runStalls(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares a service with and without the watch for stalls of the event loop.',
    names: {},
    counts: {
      rounds: { help: 'measured rounds, with a second for each', default: 55 },
      connections: { help: 'open connections of wrk', default: 64 },
    },
  });
  if (!settings) return;
  const rounds = await measureTurns<'without' | 'with'>('stalls', settings.counts);
  const base = median(rounds.map(({ without }) => without));
  const added = median(rounds.map((round) => round.with - round.without));
  const lines = [
    `Medians of ${rounds.length} rounds; ${PINNING}. \`GET /api/v1/tasks/:id\` needs ` +
      `${base.toFixed(1)} µs of CPU time without the watch, and ${added.toFixed(2)} µs more ` +
      `(${((added / base) * 100).toFixed(1)} %) with it.`,
  ];
  publish({ name: 'stalls', packages: [], lines, data: { rounds } }, settings);
}
