import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { cpus, totalmem, type } from 'node:os';
import { resolve } from 'node:path';

/** What a figure depends on beside the code. */
export interface Environment {
  readonly machine: string;
  readonly node: string;
  readonly date: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** This machine and Node, today, and the versions of `packages`. */
export function describeEnvironment(packages: readonly string[]): Environment {
  const cores = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return {
    machine: `${cores[0]?.model.trim()}, ${cores.length} cores, ${gibibytes} GiB, ${type()} ${process.arch}`,
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
  /** The files are named for it: `<name>.md` and `<name>.json`. */
  readonly name: string;
  readonly markdown: string;
  readonly data: unknown;
}

/** Prints a report, and writes its two files into `directory` when there is one. */
export function publish({ name, markdown, data }: Report, directory: string | undefined): void {
  process.stdout.write(`\n${markdown}\n`);
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  writeFileSync(resolve(directory, `${name}.md`), `${markdown}\n`);
  writeFileSync(resolve(directory, `${name}.json`), `${JSON.stringify(data, null, 2)}\n`);
  process.stderr.write(`Written to ${resolve(directory, name)}.md and .json\n`);
}

/** Where the reports of whole runs are kept. */
export const RESULTS = resolve(import.meta.dirname, 'results');
