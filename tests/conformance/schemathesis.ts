import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { ensureTool } from '../../tools/programs.ts';

interface RunOptions {
  /** A bearer token. Default: none. */
  readonly token?: string;
  readonly args: readonly string[];
}

interface Run {
  readonly output: string;
  readonly passed: boolean;
  readonly cases: number;
}

/** Runs schemathesis as `schemathesis.toml` describes, with the document at the URL `document`. */
export async function runSchemathesis(
  origin: string,
  document: string,
  { token = '', args }: RunOptions,
): Promise<Run> {
  const child = spawn(ensureTool('schemathesis'), ['run', document, '--url', origin, ...args], {
    cwd: import.meta.dirname,
    env: { ...process.env, TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunks, [status]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ]);
  const output = chunks.join('');
  return {
    output,
    passed: status === 0,
    cases: Number(/(\d+) generated/.exec(output)?.[1] ?? 0),
  };
}
