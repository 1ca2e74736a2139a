import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { lastLineOf, MissingProgramError } from '../../../tools/programs.ts';
import type { Group } from './group.ts';

/** The summary of the checker, and the smallest violation in words. */
export interface Verdict {
  readonly groups: number;
  readonly operations: number;
  /** Operations without a known outcome. */
  readonly unknown: number;
  /** Groups that are not linearizable. */
  readonly violations: number;
  /** Groups for which the time limit of the checker was too short. */
  readonly undecided: number;
  /** Number of operations up to the end of the first illegal group, or 0. */
  readonly firstViolationAfter: number;
  readonly explanation: string;
}

/**
 * Builds the checker in `folder`, and returns the path of its program.
 *
 * @throws {Error} if Go or a module is missing
 */
export function buildChecker(folder: string): string {
  const program = path.join(folder, 'checker');
  const build = ['build', '-trimpath', '-buildvcs=false', '-o', program, '.'];
  try {
    const cwd = path.join(import.meta.dirname, 'checker');
    execFileSync('go', build, { cwd, stdio: 'pipe' });
    return program;
  } catch (cause) {
    throw new MissingProgramError(
      'checker',
      `install Go 1.26, which builds it (${lastLineOf(cause)})`,
    );
  }
}

/**
 * Checks the histories of `groups`, and draws the smallest violation in the file `drawing`.
 *
 * @throws {Error} if the checker failed
 */
export async function check(
  program: string,
  groups: readonly Group[],
  drawing: string,
): Promise<Verdict> {
  const child = spawn(program, ['-visualization', drawing]);
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  child.stdin.on('error', () => {}); // the standard error contains the reason
  for (const group of groups) {
    if (!child.stdin.write(`${JSON.stringify(group)}\n`)) {
      await Promise.race([once(child.stdin, 'drain'), output]);
    }
  }
  child.stdin.end();
  const [summary, explanation] = await output;
  if (!summary) throw new Error(`The checker failed: ${explanation}`);
  return { ...JSON.parse(summary), explanation };
}
