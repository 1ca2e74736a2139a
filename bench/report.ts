import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { resolve } from 'node:path';
import { machineName } from '../deploy/local/testing/machine.ts';
import { replaceSection } from '../deploy/local/testing/markdown.ts';
import type { Settings } from './options.ts';

/** The environment of a measurement. */
export interface Environment {
  readonly machine: string;
  readonly node: string;
  readonly date: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** Describes this machine, Node, the date and the versions of `packages`. */
export function describeEnvironment(packages: readonly string[]): Environment {
  return {
    machine: machineName(),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    versions: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
  };
}

/** The environment as the first lines of a report. */
export function environmentLines({ machine, node, date, versions }: Environment): string {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [`${date}, Node ${node}, ${machine}.`, named.join(', ')].filter(Boolean).join('\n\n');
}

function versionOf(packageName: string): string {
  const file = findPackageJSON(packageName, import.meta.url);
  if (!file) throw new Error(`Cannot find the package ${packageName}: run "npm ci"`);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

export interface Report {
  /** The name of the JSON file and of the section in bench/README.md. */
  readonly name: string;
  /** The printed report, and the section of bench/README.md. */
  readonly markdown: string;
  readonly data: unknown;
}

/** Prints a report, writes its data as JSON and, after a complete run, its section of bench/README.md. */
export function publish(
  report: Report,
  { isComplete, out }: Pick<Settings, 'isComplete' | 'out'>,
): void {
  const { name, markdown, data } = report;
  process.stdout.write(`\n${markdown}\n`);
  const folder = resolve(out ?? LOCAL_FOLDER);
  mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(folder, `${name}.json`), `${JSON.stringify(data, null, 2)}\n`);
  process.stderr.write(`Every sample: ${resolve(folder, name)}.json\n`);
  if (isComplete && out === undefined) {
    writeFileSync(README, replaceSection(readFileSync(README, 'utf8'), name, markdown));
  }
}

const LOCAL_FOLDER = resolve(import.meta.dirname, '../.local/bench');
const README = resolve(import.meta.dirname, 'README.md');
