import { execFile } from 'node:child_process';

export interface RunOptions {
  /** Ends the program before its time. */
  readonly signal?: AbortSignal | undefined;
  /** Given to the program on its standard input. */
  readonly input?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/**
 * Runs a program to its end, and gives what it prints.
 *
 * @throws {Error} with what it was to do and what it says went wrong
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
        const said = lastLines(stderr.trim() || stdout.trim() || error.message, 12);
        reject(new Error(`Cannot run ${describe(program, args)}: ${said}`, { cause: error }));
      },
    );
    // Who ends without reading to the end says why itself.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

/** The last `count` lines of a text. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** A command as a reader types it, without what is too long to be read. */
function describe(program: string, args: readonly string[]): string {
  const name = program.split('/').at(-1);
  const short = args.map((arg) => (arg.length > 60 || arg.includes('\n') ? '…' : arg));
  return [name, ...short].join(' ');
}
