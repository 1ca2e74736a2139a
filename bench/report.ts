import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { resolve } from 'node:path';
import { machineName } from '../deploy/local/testing/machine.ts';
import { replaceSection } from '../deploy/local/testing/markdown.ts';
import type { Settings } from './options.ts';

function versionOf(packageName: string): string {
  const file = findPackageJSON(packageName, import.meta.url);
  if (!file) throw new Error(`Cannot find the package ${packageName}: run "npm ci"`);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

export interface Report {
  /** The name of the JSON file and of the section in bench/README.md. */
  readonly name: string;
  /** The packages whose versions are printed. */
  readonly packages: Iterable<string>;
  /** The paragraphs and tables after those of the environment. */
  readonly lines: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/** Prints a report, writes its data as JSON and, after a complete run, its section of bench/README.md. */
export function publish(
  { name, packages, lines, data }: Report,
  { isComplete, out }: Pick<Settings, 'isComplete' | 'out'>,
): void {
  const environment = {
    machine: machineName(),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    versions: [...new Set(packages)].map((name) => `${name} ${versionOf(name)}`),
  };
  const { date, node, machine, versions } = environment;
  const heads = [`${date}, Node ${node}, ${machine}.`, versions.join(', ')].filter(Boolean);
  const markdown = [...heads, ...lines].join('\n\n');
  process.stdout.write(`\n${markdown}\n`);
  const folder = resolve(out ?? LOCAL_FOLDER);
  mkdirSync(folder, { recursive: true });
  const json = JSON.stringify({ environment, ...data }, null, 2);
  writeFileSync(resolve(folder, `${name}.json`), `${json}\n`);
  process.stderr.write(`Every sample: ${resolve(folder, name)}.json\n`);
  if (isComplete && out === undefined) {
    writeFileSync(README, replaceSection(readFileSync(README, 'utf8'), name, markdown));
  }
}

const LOCAL_FOLDER = resolve(import.meta.dirname, '../.local/bench');
const README = resolve(import.meta.dirname, 'README.md');
