/** A time limit. */
export interface Timer {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** Ends the timer early: unlike `AbortSignal.timeout`, it then needs no memory until its end. */
  stop(): void;
}

/** Starts a timer of `ms` milliseconds. */
export function startTimer(ms: number): Timer {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
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
