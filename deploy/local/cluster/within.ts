/** Gives a task so many seconds; what it does, as part of a sentence, stands in the reason. */
export type Within = <T>(
  seconds: number,
  what: string,
  task: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** Limits the time of tasks, all of which end when `interrupted` says so. */
export function limitedBy(interrupted: AbortSignal): Within {
  return async (seconds, what, task) => {
    interrupted.throwIfAborted();
    const late = AbortSignal.timeout(seconds * 1_000);
    try {
      return await task(AbortSignal.any([interrupted, late]));
    } catch (error) {
      if (!late.aborted || interrupted.aborted) throw error;
      throw new Error(`Gave up ${what} after ${seconds} s`, { cause: error });
    }
  };
}

/** The last line of what a program said went wrong: what its user can do something about. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.trimEnd().split('\n').at(-1) ?? '').replace(/^Cannot run [^:]*: /, '');
}
