import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Tells how late the event loop is. */
export interface EventLoopLag {
  /** By how many milliseconds, on average over the last quarter of a second. */
  readonly lagMs: number;
  stop(): void;
}

const SAMPLE_MS = 20;
const PERIOD_MS = 250;

/**
 * Watches the event loop. What counts is the average: one long pause, as of a garbage collection, is
 * over by the time that anybody could act on it.
 */
export function watchEventLoopLag(): EventLoopLag {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  delays.enable();
  let lagMs = 0;
  const timer = setInterval(() => {
    lagMs = delays.count === 0 ? 0 : Math.max(0, delays.mean / 1e6 - SAMPLE_MS);
    delays.reset();
  }, PERIOD_MS).unref();
  return {
    get lagMs() {
      return lagMs;
    },
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
