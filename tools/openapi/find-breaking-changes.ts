import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { ensureTool } from '../programs.ts';

/** The changes of one operation that can break a client. */
export interface BreakingChanges {
  /** `GET /users`; `components` or another part of the document for changes outside of operations. */
  readonly operation: string;
  readonly changes: readonly string[];
}

/** A finding in the JSON output of oasdiff. */
interface Finding {
  readonly text: string;
  readonly section: string;
  readonly operation?: string;
  readonly path?: string;
}

const OPTIONS = [
  '--format=json',
  '--allow-external-refs=false',
  // Names the field of a schema with allOf, instead of the schema in allOf.
  '--flatten-allof',
  `--severity-levels=${path.join(import.meta.dirname, 'severity-levels.txt')}`,
];

/**
 * Compares two OpenAPI documents with oasdiff. Each is a file, or `commit:path` in the git repository of the
 * folder `cwd`.
 *
 * @throws {Error} if oasdiff is missing, cannot read a document, or needs more than a minute
 */
export function findBreakingChanges(before: string, after: string, cwd: string): BreakingChanges[] {
  const output = execFileSync(ensureTool('oasdiff'), ['breaking', before, after, ...OPTIONS], {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 1024 ** 2,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const findings: readonly Finding[] = JSON.parse(output || '[]');
  const byOperation = Map.groupBy(findings, (finding) =>
    finding.operation ? `${finding.operation} ${finding.path}` : finding.section,
  );
  return [...byOperation].map(([operation, found]) => ({
    operation,
    changes: mergeStatuses(found.map(({ text }) => text)),
  }));
}

/** Merges the lines that differ only in the status: a schema of errors is in every response. */
function mergeStatuses(changes: readonly string[]): string[] {
  const status = /(?<=status )`\w+`|`\w+`(?= status)/;
  const byText = Map.groupBy(changes, (change) => change.replace(status, '#'));
  return [...byText.values()].map(([first = '', ...others]) => {
    const statuses = new Set([first, ...others].map((change) => status.exec(change)?.[0]));
    return first.replace(status, () => [...statuses].join(', '));
  });
}
