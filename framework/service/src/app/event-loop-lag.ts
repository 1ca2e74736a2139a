import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Measures how late the event loop is. */
export interface EventLoopLag {
  /** The average delay in the last quarter of a second, in milliseconds. */
  readonly lagMs: number;
  stop(): void;
}

const SAMPLE_MS = 20;
const PERIOD_MS = 250;

/**
 * Watches the event loop. It reports the average: a single long pause, such as a garbage collection, is
 * over before a reaction could help.
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
