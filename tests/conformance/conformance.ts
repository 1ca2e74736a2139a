import fs from 'node:fs';
import path from 'node:path';

import { SERVICES, type ServiceName, serviceOf } from '../../services/services.ts';
import { ensureEnvironment } from './environment.ts';
import type { Failure, Findings } from './report.ts';
import { runSchemathesis } from './schemathesis.ts';
import { type System, startSystem, type Way } from './system.ts';

/** A failure that is correct behaviour, but that a document cannot describe. */
export interface Exception {
  /** The operation as in the document, `GET /api/v2/users/{id}`, or `*` for all. */
  readonly operation: string;
  readonly check: string;
  /** The `detail` of the response, in full. */
  readonly detail: string;
  readonly reason: string;
}

/** The findings for one service, directly or through the edge. */
export interface Run extends Findings {
  readonly service: ServiceName;
  readonly way: Way;
}

/** A row of the table: the cases and failures of one version of a service. */
export interface Row {
  readonly service: ServiceName;
  readonly version: string;
  readonly way: Way;
  readonly cases: number;
  readonly failures: number;
  readonly excepted: number;
}

/** The result of a run of all services, directly and through the edge. */
export interface Outcome {
  readonly rows: readonly Row[];
  readonly cases: number;
  /** Descriptions of the unexpected failures and errors. */
  readonly problems: readonly string[];
  /** Exceptions that did not occur. */
  readonly unused: readonly Exception[];
}

/** Reads the accepted failures. */
export function readExceptions(): readonly Exception[] {
  return JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'exceptions.json'), 'utf8'));
}

/**
 * Checks every service against its OpenAPI document, directly and through the edge.
 *
 * @throws {MissingPythonError} if schemathesis cannot be run on this machine
 */
export async function checkConformance({ maxExamples }: { readonly maxExamples: number }) {
  const python = ensureEnvironment();
  const system = await startSystem();
  try {
    const runs: Run[] = [];
    for (const way of ['direct', 'edge'] as const) {
      runs.push(
        ...(await Promise.all(
          SERVICES.map(({ name }) => checkService(name, { way, system, python, maxExamples })),
        )),
      );
    }
    return judge(runs, readExceptions());
  } finally {
    await system.stop();
  }
}

interface CheckOptions {
  readonly way: Way;
  readonly system: System;
  readonly python: string;
  readonly maxExamples: number;
}

async function checkService(service: ServiceName, options: CheckOptions): Promise<Run> {
  const { way, system, python, maxExamples } = options;
  const findings = await runSchemathesis({
    python,
    origin: system.originOf(service, way),
    document: `/docs/${service}/openapi.json`,
    maxExamples,
    ...(serviceOf(service).authenticated && { token: system.token }),
  });
  return { service, way, ...findings };
}

/** Separates accepted failures from problems. */
export function judge(runs: readonly Run[], exceptions: readonly Exception[]): Outcome {
  const used = new Set<Exception>();
  const problems: string[] = [];
  const rows = runs.flatMap(({ service, way, cases, failures, errors }) => {
    problems.push(...errors.map((error) => `${service} (${way}): ${error}`));
    return versionsOf(cases).map((version): Row => {
      const inVersion = failures.filter(({ operation }) => versionOf(operation) === version);
      const unexpected = inVersion.filter((failure) => {
        const exception = exceptions.find((candidate) => covers(candidate, failure));
        if (exception) used.add(exception);
        return !exception;
      });
      problems.push(...describeAll(unexpected, { service, way }));
      return {
        service,
        version,
        way,
        cases: sum([...cases].filter(([at]) => versionOf(at) === version).map(([, n]) => n)),
        failures: unexpected.length,
        excepted: inVersion.length - unexpected.length,
      };
    });
  });
  return {
    rows,
    cases: sum(rows.map((row) => row.cases)),
    problems,
    unused: exceptions.filter((exception) => !used.has(exception)),
  };
}

function versionsOf(cases: ReadonlyMap<string, number>): string[] {
  return [...new Set([...cases.keys()].map(versionOf))].sort();
}

/** The API version of a path or an operation: `v1` or `v2`. */
function versionOf(operation: string): string {
  return /\/api\/(v\d+)\//.exec(operation)?.[1] ?? 'other';
}

function covers(exception: Exception, { operation, check, detail }: Failure): boolean {
  return (
    (exception.operation === '*' || exception.operation === operation) &&
    exception.check === check &&
    exception.detail === detail
  );
}

/** Describes failures; those that differ only in the request are one text, with the first request. */
function describeAll(
  failures: readonly Failure[],
  { service, way }: Pick<Run, 'service' | 'way'>,
): string[] {
  const groups = Map.groupBy(
    failures,
    ({ operation, check, status, detail }) =>
      `${operation} fails ${check}: ${status ?? 'no response'} ${detail ?? ''}`,
  );
  return [...groups].map(([title, group]) => {
    const { message, curl } = group[0] as Failure;
    return `${service} (${way}): ${title}, ${group.length} times\n${message}\n${curl}`;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Formats the rows as a table. */
export function tableOf({ rows, cases }: Outcome): string {
  const lines = [
    ['service', 'version', 'way', 'cases', 'failures', 'exceptions'],
    ...rows.map((row) => [
      ...[row.service, row.version, row.way],
      ...[row.cases, row.failures, row.excepted].map((number) => number.toLocaleString('en')),
    ]),
    ['all', '', '', cases.toLocaleString('en'), '', ''],
  ];
  return lines
    .map((cells) => cells.map((cell, at) => (at < 3 ? cell.padEnd(9) : cell.padStart(11))).join(''))
    .join('\n');
}
