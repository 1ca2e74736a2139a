/** Ends what runs too long, or what nothing waits for any more. */
export interface Limit {
  /** Aborts when a source aborts, with its reason, or when the time is over. */
  readonly signal: AbortSignal;
  /**
   * Ends the limit. From then on it needs no memory, unlike `AbortSignal.any()`, which Node keeps while it has
   * listeners (https://github.com/nodejs/node/issues/54614), and `AbortSignal.timeout()`.
   */
  stop(): void;
}

/** Starts a limit of `ms` milliseconds that also ends when one of `sources` aborts. Default: no time limit. */
export function startLimit(sources: readonly AbortSignal[], ms?: number): Limit {
  const controller = new AbortController();
  const abort = () => controller.abort(sources.find(({ aborted }) => aborted)?.reason);
  const timer = ms === undefined ? undefined : setTimeout(abort, ms);
  for (const source of sources) source.addEventListener('abort', abort);
  if (sources.some(({ aborted }) => aborted)) abort();
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      for (const source of sources) source.removeEventListener('abort', abort);
    },
  };
}

/**
 * Rejects with `error()` after `signal` aborts, and after the promises that the abort rejects: an interceptor
 * that waits for the response can still replace the failure.
 */
export function rejectAfter(signal: AbortSignal, error: () => unknown): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(error())), { once: true });
  });
}
