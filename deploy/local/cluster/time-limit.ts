/** Runs a task with a limit in seconds; `what` completes the sentence "Gave up …". */
export type TimeLimit = <T>(
  seconds: number,
  what: string,
  task: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** Creates a time limit for tasks that also end when `interrupted` is aborted. */
export function createTimeLimit(interrupted?: AbortSignal): TimeLimit {
  return async (seconds, what, task) => {
    interrupted?.throwIfAborted();
    const late = AbortSignal.timeout(seconds * 1_000);
    try {
      return await task(interrupted ? AbortSignal.any([interrupted, late]) : late);
    } catch (cause) {
      if (!late.aborted || interrupted?.aborted) throw cause;
      throw new Error(`Gave up ${what} after ${seconds} s`, { cause });
    }
  };
}

/** The last line of the error of a program, which usually contains the reason. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.trimEnd().split('\n').at(-1) ?? '').replace(/^Cannot run .*?: /, '');
}
