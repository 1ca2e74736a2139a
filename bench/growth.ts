import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median } from '../deploy/local/testing/statistics.ts';
import { readSettings } from './options.ts';
import { startMeasured } from './process.ts';
import { publish } from './report.ts';

const SERVER = fileURLToPath(new URL('growth/server.ts', import.meta.url));
const SIZES = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** The smallest and the largest size of each subject. */
const SUBJECTS: Readonly<Record<string, readonly [number, number]>> = {
  routes: [10, 10_000],
  users: [1_000, 1_000_000],
  catalog: [1_000, 1_000_000],
  limiter: [10, 1_000_000],
};

interface Result {
  readonly row: string;
  readonly size: number;
  readonly samples: readonly number[];
}

/** Measures every subject with every size, and prints a report. */
export async function runGrowth(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Measures CPU time and memory by the number of routes, rows and keys.',
    names: {
      only: { help: 'what is counted', known: Object.keys(SUBJECTS) },
      sizes: { help: 'numbers', known: SIZES.map(String) },
    },
    counts: { rounds: { help: 'measured rounds', default: 7 } },
  });
  if (!settings) return;
  const { rounds } = settings.counts;
  const directory = mkdtempSync(join(tmpdir(), 'fw-growth-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const results: Result[] = [];
  for (const subject of settings.names.only) {
    const [least = 0, most = 0] = SUBJECTS[subject] ?? [];
    for (const size of settings.names.sizes.map(Number)) {
      if (size < least || size > most) continue;
      process.stderr.write(`growth, ${size} ${subject}\n`);
      const options = [subject, size, rounds, join(directory, `${subject}-${size}.db`)].map(String);
      const { ready, stop } = await startMeasured<Result[], never>(
        '--expose-gc',
        SERVER,
        ...options,
      );
      results.push(...ready);
      await stop();
    }
  }
  const lines = [
    `Medians of ${rounds} rounds, by number; less is better. "ratio" compares the largest number with the ` +
      'smallest; "log" is the ratio of their logarithms.',
    toTable(results),
  ];
  publish({ name: 'growth', packages: [], lines, data: { rounds, results } }, settings);
}

function toTable(results: readonly Result[]): string {
  const sizes = SIZES.filter((size) => results.some((result) => result.size === size));
  const rows = [...Map.groupBy(results, ({ row }) => row)].map(([row, own]) => {
    const values = new Map(own.map(({ size, samples }) => [size, median(samples)]));
    const [least = 0, most = 0] = [own[0]?.size, own.at(-1)?.size];
    const ratio = (values.get(most) ?? 0) / (values.get(least) ?? 0);
    const cells = [
      ...sizes.map((size) => values.get(size)),
      ratio,
      Math.log(most) / Math.log(least),
    ];
    return [row, ...cells.map(format)];
  });
  return markdownTable(['', ...sizes.map(format), 'ratio', 'log'], rows);
}

function format(value?: number): string {
  return value?.toLocaleString('en', { maximumSignificantDigits: 3 }) ?? '';
}
