/**
 * Connects a measured process with its parent: sends `ready`, and for each message of the parent the
 * result of `measure(message)`. Exits with the parent.
 *
 * @throws {Error} if this process has no channel to a parent
 */
export function serveParent(ready: unknown, measure: (message: unknown) => unknown): void {
  const send = process.send?.bind(process);
  if (!send) throw new Error('Cannot run without a channel to a parent process');
  process.on('disconnect', () => process.exit());
  process.on('message', async (message) => send((await measure(message)) ?? null));
  send(ready);
}

/** CPU time that this process has used. */
export function usedCpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The memory of a server, in bytes: of its process, and of its JavaScript objects and buffers. */
export interface Memory {
  readonly rss: number;
  readonly used: number;
}

/** The memory of this process, after a garbage collection if it runs with `--expose-gc`. */
export function usedMemory(): Memory {
  for (const _ of [1, 2, 3]) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, used: heapUsed + external };
}
