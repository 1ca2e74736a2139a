import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { readPart } from './parts.ts';

const [name = ''] = process.argv.slice(2);
const folder = path.resolve(import.meta.dirname, '../../.local/mutation');
const slowTests = path.join(folder, `${name}-slow.json`);
const env = { ...process.env, PACKAGE: name, SLOW_TESTS: slowTests };

let slowMs: number;
try {
  ({ slowMs = 100 } = readPart(name));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(slowTests, JSON.stringify(listSlowTests()));
run('tools/mutation/node_modules/.bin/stryker', ['run', 'tools/mutation/stryker.config.mjs']);
console.log(
  `${describeScore()}\nThe mutants that survived: ${path.relative('', path.join(folder, name))}.html`,
);

/** The full names of the tests that are too slow, measured by one run without mutants. */
function listSlowTests(): string[] {
  const report = path.join(folder, `${name}-tests.json`);
  fs.writeFileSync(slowTests, '[]');
  run('node_modules/.bin/vitest', [
    // Those that take longer than a test may with a mutant are slow, not failed.
    ...['run', '--config', 'tools/mutation/vitest.config.ts', '--test-timeout=60000'],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  ]);
  const { testResults } = JSON.parse(fs.readFileSync(report, 'utf8')) as Report;
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ duration = 0 }) => duration >= slowMs)
    .map(({ ancestorTitles, title }) => [...ancestorTitles, title].join(' > '));
}

/** The row of docs/decisions/0008: unlike Stryker's score, ours does not count time-outs as killed. */
function describeScore(): string {
  const { files } = JSON.parse(
    fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'),
  ) as Mutants;
  const statuses = Object.values(files).flatMap(({ mutants }) =>
    mutants.map(({ status }) => status),
  );
  const [killed = 0, ...others] = ['Killed', 'Timeout', 'Survived', 'NoCoverage'].map(
    (status) => statuses.filter((each) => each === status).length,
  );
  const total = others.reduce((sum, count) => sum + count, killed);
  const score = `${((killed / total) * 100).toFixed(1)} %`;
  return `| ${[name, total, killed, ...others, score].join(' | ')} |`;
}

interface Mutants {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { status: string }[] }>>;
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly duration?: number;
    }[];
  }[];
}

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
