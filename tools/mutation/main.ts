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
console.log(`The mutants that survived: ${path.relative('', path.join(folder, name))}.html`);

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
