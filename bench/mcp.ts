import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median } from '../deploy/local/testing/statistics.ts';
import { readSettings } from './options.ts';
import { publish } from './report.ts';
import { measureTurns } from './turns.ts';

const TITLES = {
  http: 'HTTP request',
  post: 'POST with the bodies of a call',
  mcp: 'call of the tool',
};
type Kind = keyof typeof TITLES;

/** Measures the CPU time of a call of a tool, and prints a report. */
export async function runMcp(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares a call of a tool with the HTTP request and a POST of the same size.',
    names: {},
    counts: {
      rounds: { help: 'measured rounds, with a second for each kind of request', default: 31 },
      connections: { help: 'open connections of wrk', default: 16 },
    },
  });
  if (!settings) return;
  const rounds = await measureTurns<Kind>('mcp', settings.counts);
  const share = median(rounds.map(({ http, post, mcp }) => mcp / (http + post)));
  const lines = [
    `CPU time of the server per request, medians of ${rounds.length} rounds; less is better. A call needs ` +
      `${(share * 100).toFixed()} % of the HTTP request and a POST of the same size together.`,
    markdownTable(
      ['', 'µs'],
      Object.entries(TITLES).map(([kind, title]) => [
        title,
        median(rounds.map((round) => round[kind as Kind])).toFixed(1),
      ]),
    ),
  ];
  publish({ name: 'mcp', packages: [], lines, data: { rounds } }, settings);
}
