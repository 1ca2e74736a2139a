import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** The core of the contestants, and the core of the load generator. */
export const MEASURED_CORE = 0;
export const LOAD_CORE = 1;

const canPin =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).error === undefined;

/** How contestants and load are pinned to cores, for the report. */
export const PINNING = canPin
  ? `contestants on core ${MEASURED_CORE}, load on core ${LOAD_CORE}`
  : 'processes not pinned to cores (taskset or a second core is missing)';

/** Pins this process to a core, and its later child processes, except those of `startProcess`. */
export function pinThisProcess(core: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) kill(child);
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

export interface StartOptions {
  readonly core: number;
  /** Whether the process exchanges messages with this one. Default `false`: its output is read. */
  readonly channel?: boolean;
  /** Whether to discard standard output; standard error is still read. Default `false`. */
  readonly quiet?: boolean;
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a process on `core`, if the system can pin processes. It is killed when this one exits. */
export function startProcess(
  command: readonly string[],
  { core, channel = false, quiet = false, env = {} }: StartOptions,
): ChildProcess {
  const [file = '', ...args] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(file, args, {
    stdio: channel
      ? ['ignore', 'ignore', 'inherit', 'ipc']
      : ['ignore', quiet ? 'ignore' : 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', ...env },
    // Its own process group, so that the workers of nginx are killed with it.
    detached: true,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Waits for the next message of a process.
 *
 * @throws {Error} if it exits first
 */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const done = new AbortController();
  const { signal } = done;
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message as unknown),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.slice(-3).join(' ')} exited with code ${code}`);
      }),
    ]);
  } finally {
    done.abort();
  }
}

/** The CPU time that a process has used so far; it must run `serveMeasured`. */
export async function cpuMicrosOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const message = (await nextMessage(child)) as { cpuMicros: number };
  return message.cpuMicros;
}

/** Kills a process and waits until it has exited. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  kill(child);
  await exited;
}

/** Kills a process and its child processes. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** The complete output and the exit code of a process. */
export async function outputOf(
  child: ChildProcess,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, ...output };
}
