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
