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

// An exit, unlike a signal, also ends the programs of `startProgram`.
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

/** A process on the measured core that runs `serveParent`: it exits with this one. */
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
  const [file = '', ...rest] = pinned([process.execPath, ...args], MEASURED_CORE);
  const child = spawn(file, rest, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  return {
    ready: (await nextMessage(child)) as Ready,
    async request(message = 'request') {
      child.send(message);
      return (await nextMessage(child)) as Reply;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
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
