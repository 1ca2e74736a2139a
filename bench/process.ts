import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** The core that is measured, and the one that puts the load on it. */
export const MEASURED_CORE = 0;
export const LOAD_CORE = 1;

const canPin =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).error === undefined;

/** Whether contestant and load run on a core of their own; a report without it says so. */
export const PINNING = canPin
  ? `contestants on core ${MEASURED_CORE}, load on core ${LOAD_CORE}`
  : 'processes not pinned to cores (taskset or a second core is missing)';

/** Moves this process, and what it starts from now on otherwise than by `startProcess`, to a core. */
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
  /** Whether the process talks to this one by messages. Default `false`: its output is read. */
  readonly channel?: boolean;
  /** Whether its output is thrown away, rather than read; what it complains of is still read. */
  readonly quiet?: boolean;
  /** Variables on top of those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a process that does not outlive this one, on a core of its own where the system can. */
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
    // A process group of its own, so that nginx does not leave its workers behind.
    detached: true,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * The next message of a process.
 *
 * @throws {Error} if it ends before it sends one
 */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const done = new AbortController();
  const { signal } = done;
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message as unknown),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.slice(-3).join(' ')} ended with code ${code}`);
      }),
    ]);
  } finally {
    done.abort();
  }
}

/** The processor time that a process has used so far, if it runs by `serveMeasured`. */
export async function cpuMicrosOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const message = (await nextMessage(child)) as { cpuMicros: number };
  return message.cpuMicros;
}

/** Ends a process and waits until it is gone. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  kill(child);
  await gone;
}

/** Ends a process and what it has started. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}

/** What a process prints until it ends. */
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
