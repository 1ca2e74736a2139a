import { execFile } from 'node:child_process';

export interface RunOptions {
  /** Stops the program. */
  readonly signal?: AbortSignal | undefined;
  /** Stops the program after this time. Default: none. */
  readonly seconds?: number | undefined;
  /** Standard input of the program. */
  readonly input?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Prints the output of the program, too. Default false. */
  readonly show?: boolean | undefined;
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
  { signal, seconds = 0, input, cwd, env = process.env, show = false }: RunOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env, signal, timeout: seconds * 1_000, maxBuffer: 64 * 1024 ** 2 };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      if (signal?.aborted) return reject(signal.reason);
      if (error.code === 'ENOENT') {
        return reject(new Error(`${program} is not on the PATH`, { cause: error }));
      }
      const errors = stderr.replace(HELM_INFO, '').trim();
      const late = error.killed && seconds > 0 ? `no end within ${seconds} s` : '';
      const reason = late || lastLines(errors || stdout.trim() || error.message, 12);
      reject(new Error(`Cannot run ${describe(program, args)}: ${reason}`, { cause: error }));
    });
    if (show) {
      child.stdout?.pipe(process.stdout);
      child.stderr?.pipe(process.stderr);
    }
    // A program that exits without reading its input reports its own error.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

/** The last line of the error of a program, which usually contains the reason. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.trimEnd().split('\n').at(-1) ?? '').replace(/^Cannot run .*?: /, '');
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
