import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { lastLineOf, MissingProgramError } from '../../../tools/programs.ts';
import type { Group } from './operation.ts';

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

/** The checker in its own process. */
export interface Checker {
  /** Passes on a finished group; resolves when the checker accepts more. */
  check(group: Group): Promise<void>;
  /** Resolves when all groups are checked. @throws {Error} if the checker failed */
  end(): Promise<Verdict>;
}

export const SOURCE = path.join(import.meta.dirname, 'checker');

/**
 * Builds the checker in `folder`, and returns the path of its program.
 *
 * @throws {Error} if Go or a module is missing
 */
export function buildChecker(folder: string): string {
  const program = path.join(folder, 'checker');
  const build = ['build', '-trimpath', '-buildvcs=false', '-o', program, '.'];
  try {
    execFileSync('go', build, { cwd: SOURCE, stdio: 'pipe' });
    return program;
  } catch (cause) {
    const reason = `Cannot build the checker of histories with Go 1.26: ${lastLineOf(cause)}`;
    throw new MissingProgramError('checker', reason);
  }
}

/** Builds and starts the checker, which draws the smallest violation in the file `visualization`. */
export function startChecker(folder: string, visualization: string): Checker {
  const program = buildChecker(folder);
  const child = spawn(program, ['-visualization', visualization]);
  const ended = once(child, 'close');
  const output = Promise.all([text(child.stdout), text(child.stderr), ended]);
  child.stdin.on('error', () => {}); // `end` reports why the checker ended

  return {
    async check(group) {
      const isFull = !child.stdin.write(`${JSON.stringify(group)}\n`);
      if (isFull) await Promise.race([once(child.stdin, 'drain'), ended]);
    },
    async end() {
      child.stdin.end();
      const [summary, explanation] = await output;
      if (!summary) throw new Error(`The checker failed: ${explanation}`);
      return { ...JSON.parse(summary), explanation };
    },
  };
}
