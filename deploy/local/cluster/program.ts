import { execFile } from 'node:child_process';

export interface RunOptions {
  /** Stops the program. */
  readonly signal?: AbortSignal | undefined;
  /** Standard input of the program. */
  readonly input?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Helm logs each symbolic link in a chart. */
const HELM_INFO = /^level=INFO .*\n/gm;

/**
 * Runs a program and returns its standard output.
 *
 * @throws {Error} with the command and the end of its output, if it fails; with its name, if it is missing
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { signal, input, env = process.env }: RunOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { env, signal, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        if (signal?.aborted) return reject(signal.reason);
        if (error.code === 'ENOENT') {
          return reject(new Error(`${program} is not on the PATH`, { cause: error }));
        }
        const errors = stderr.replace(HELM_INFO, '').trim();
        const reason = lastLines(errors || stdout.trim() || error.message, 12);
        reject(new Error(`Cannot run ${describe(program, args)}: ${reason}`, { cause: error }));
      },
    );
    // A program that exits without reading its input reports its own error.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

/** The last `count` lines of a text. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** The command line, without long arguments. */
function describe(program: string, args: readonly string[]): string {
  const name = program.split('/').at(-1);
  const short = args.map((arg) => (arg.length > 60 || arg.includes('\n') ? '…' : arg));
  return [name, ...short].join(' ');
}
