import path from 'node:path';
import { parseArgs } from 'node:util';

import { readConfig } from '@fw/service';

import { VARIABLES } from '../../services/users/src/config.ts';
import { type Baseline, findDocuments, readBaseline } from './baseline.ts';
import { type BreakingChanges, findBreakingChanges } from './find-breaking-changes.ts';

const HELP = `Usage: node tools/openapi/breaking.ts [--against REFERENCE]

Compares services/*/openapi/*.json with the newest release (the highest tag such as v1.2.0), or with a tag,
a commit or a folder, and prints each change that can break a client. The exit code is then 1.
A version may be removed after the day in its variable: V1_SUNSET=2027-12-31`;

/** The breaking changes of one document, `users v2`. */
interface Report {
  readonly document: string;
  readonly operations: readonly BreakingChanges[];
}

/** Compares the documents of the checkout in `root` with those of a release. */
export function compareDocuments(
  root: string,
  { documents }: Baseline,
  isRetired: (version: string) => boolean,
): Report[] {
  const current = new Set(findDocuments(root));
  return [...documents].flatMap(([file, before]) => {
    const [, service = '', , name = ''] = file.split('/');
    const version = path.basename(name, '.json');
    const isRemoved = !current.has(file);
    if (isRemoved && isRetired(version)) return [];
    const operations = isRemoved ? [removalOf(version)] : findBreakingChanges(before, file, root);
    return operations.length > 0 ? [{ document: `${service} ${version}`, operations }] : [];
  });
}

function removalOf(version: string): BreakingChanges {
  const variable = `${version.toUpperCase()}_SUNSET`;
  return {
    operation: 'all operations',
    changes: [`the version is removed, and ${variable} is not set to a day in the past`],
  };
}

/** Whether the day on which `version` ends, from the variable that announces it, is in the past. */
function isRetired(version: string): boolean {
  const day = process.env[`${version.toUpperCase()}_SUNSET`] ?? '';
  return Date.parse(day) <= Date.now();
}

/** The lines about all documents, grouped by operation. */
export function printReports(reports: readonly Report[]): string {
  const lines = reports.flatMap(({ document, operations }) => [
    document,
    ...operations.flatMap(({ operation, changes }) => [
      `  ${operation}`,
      ...changes.map((change) => `    ${change}`),
    ]),
  ]);
  return lines.join('\n');
}

function main(): number {
  const { values } = parseArgs({
    options: {
      against: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  // Rejects a day that the services reject.
  readConfig({ V1_SUNSET: VARIABLES.V1_SUNSET }, process.env);
  const root = path.resolve(import.meta.dirname, '../..');
  const baseline = readBaseline(root, values.against);
  if (!baseline || baseline.documents.size === 0) {
    const missing = baseline
      ? `${baseline.name} has no OpenAPI documents`
      : 'There is no release yet: no tag such as v1.0.0';
    console.log(`${missing}. Compare with another commit: make breaking AGAINST=main`);
    return 0;
  }
  const reports = compareDocuments(root, baseline, isRetired);
  if (reports.length === 0) {
    console.log(
      `No breaking changes since ${baseline.name} (${baseline.documents.size} documents)`,
    );
    return 0;
  }
  console.log(`Breaking changes since ${baseline.name}:\n\n${printReports(reports)}`);
  return 1;
}

if (import.meta.main) {
  try {
    process.exitCode = main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
