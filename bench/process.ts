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

/** Pins this process, and those that it starts without a core, to the core of the load. */
export function pinToLoadCore(): void {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', String(LOAD_CORE), String(process.pid)]);
}

/** A command that runs on `core`, if the system can pin processes. */
export function pinned(command: readonly string[], core: number): readonly string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : command;
}

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) kill(child);
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

export interface StartOptions {
  readonly core: number;
  /** Standard output and error, or a channel for messages. Default: both outputs are read. */
  readonly stdio?: readonly ('ignore' | 'inherit' | 'pipe' | 'ipc')[];
  /** Default: the process has no standard input. */
  readonly stdin?: 'ignore' | 'pipe';
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a process on `core`. It is killed when this one exits. */
export function startProcess(
  command: readonly string[],
  { core, stdin = 'ignore', stdio = ['pipe', 'pipe'], env = {} }: StartOptions,
): ChildProcess {
  const [file = '', ...args] = pinned(command, core);
  const child = spawn(file, args, {
    stdio: [stdin, ...stdio],
    env: { ...process.env, NODE_ENV: 'production', ...env },
    // Its own process group, so that the workers of nginx are killed with it.
    detached: true,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** A process on the measured core that runs `serveParent`. */
export interface MeasuredProcess<Ready, Reply> {
  /** Its first message. */
  readonly ready: Ready;
  request(message?: string): Promise<Reply>;
  stop(): Promise<void>;
}

/** Starts `node ...args` on the measured core and waits until it is ready. */
export async function startMeasured<Ready, Reply>(
  ...args: readonly string[]
): Promise<MeasuredProcess<Ready, Reply>> {
  const child = startProcess([process.execPath, ...args], {
    core: MEASURED_CORE,
    stdio: ['ignore', 'inherit', 'ipc'],
  });
  return {
    ready: (await nextMessage(child)) as Ready,
    async request(message = 'request') {
      child.send(message);
      return (await nextMessage(child)) as Reply;
    },
    stop: () => stopProcess(child),
  };
}

/** @throws {Error} if the process exits before it sends a message */
async function nextMessage(child: ChildProcess): Promise<unknown> {
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
