import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { request } from '@fw/core/testing';
import type { Application } from 'fw';

/** A problem that redocly finds. */
export interface LintProblem {
  readonly severity: string;
  readonly ruleId: string;
  readonly message: string;
  /** Where in the document, as JSON pointers. */
  readonly pointers: readonly string[];
}

/** The part of redocly's report that is used. */
interface Report {
  readonly problems: readonly (Omit<LintProblem, 'pointers'> & {
    readonly location: readonly { readonly pointer?: string }[];
  })[];
}

/** Resolves with what `redocly lint` finds in the document at `path`; see `lintFile`. */
export async function lintDocument(
  app: Application,
  path = '/openapi.json',
): Promise<readonly LintProblem[]> {
  const response = await request(app, path);
  if (response.status !== 200)
    throw new Error(`Cannot lint ${path}: its status is ${response.status}`);
  const folder = await mkdtemp(join(tmpdir(), 'fw-lint-'));
  try {
    const file = join(folder, 'openapi.json');
    await writeFile(file, await response.text());
    return await lintFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Resolves with what `redocly lint` finds in the document `file`, by its recommended rules except the one that
 * requires a licence: a private service has none.
 */
export async function lintFile(file: string): Promise<readonly LintProblem[]> {
  const { problems } = await runRedocly(file);
  return problems.map(({ severity, ruleId, message, location }) => ({
    severity,
    ruleId,
    message,
    pointers: location.map(({ pointer = '' }) => pointer),
  }));
}

/** @throws {Error} if the package is not installed */
function findRedocly(): string {
  try {
    return createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js');
  } catch (cause) {
    throw new Error('Cannot find @redocly/cli: npm install --save-dev @redocly/cli', { cause });
  }
}

/** Runs in the folder of `file`, which contains no configuration of redocly. */
function runRedocly(file: string): Promise<Report> {
  const redocly = findRedocly();
  const rules = ['--extends', 'recommended', '--skip-rule', 'info-license'];
  const args = ['lint', file, ...rules, '--format', 'json'];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [redocly, ...args],
      { cwd: dirname(file), env, maxBuffer: 64 * 1024 ** 2 },
      (_failure, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout));
        } catch (cause) {
          reject(new Error(`Cannot read the report of redocly: ${stdout}${stderr}`, { cause }));
        }
      },
    );
  });
}
