import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The core of the services, and that of the edge and the clients. */
export const SERVICE_CORE = 0;
export const CLIENT_CORE = 1;

/** Whether processes can be bound to a core: taskset exists and there are several cores. */
export const canPin =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).error === undefined;

/** Binds this process to `core`, and the processes that it starts from now on. */
export function pinThisProcess(core: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}
