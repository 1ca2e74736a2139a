import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { promiseHooks } from 'node:v8';

import type { Context, Logger } from 'fw';

import type { Metrics } from '../metrics/metrics.ts';

/** A callback that runs for longer than this, in milliseconds, is a stall: no other code can run meanwhile. */
const STALL_MS = 50;

/**
 * The number of callbacks that are watched in each interval. A request has about 30 callbacks. Watching one takes
 * about 0.2 µs, so the watch takes at most 0.2 % of a core.
 */
const MAX_CALLBACKS = 10_000;
const INTERVAL_MS = 1_000;

export interface StallWatchOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** A clock in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/** Logs and counts the stalls of the event loop, with the request whose code caused them. */
export interface StallWatch {
  /** Runs the middleware of a request by `next`. Each stall of that code, also after an `await`, counts for `ctx`. */
  run<T>(ctx: Context, next: () => T): T;
  /** The request for which the current code runs, if it is watched. */
  current(): Context | undefined;
  /** Begins an interval: watches all callbacks of the process, until `stop`. */
  start(): void;
  stop(): void;
}

/**
 * Measures each callback of Node and each continuation of a promise, up to `MAX_CALLBACKS` in each interval. If a
 * request begins after that, only its code before the first `await` is measured for the rest of the interval. Later
 * intervals cannot attribute its code, because it runs without `AsyncLocalStorage`, which costs about 1 µs.
 */
export function createStallWatch({
  logger,
  metrics,
  now = () => performance.now(),
}: StallWatchOptions): StallWatch {
  const requests = new AsyncLocalStorage<Context>();
  /** When the callbacks that run now began: a callback may run others inside it. */
  const starts: number[] = [];
  let callbacks = 0;
  let reportedMs = 0;
  let interval: NodeJS.Timeout | undefined;
  /** Set while callbacks are watched. */
  let stopPromiseHooks: (() => void) | undefined;

  function before(): void {
    starts.push(now());
    callbacks++;
    if (callbacks > MAX_CALLBACKS) pause();
  }

  function after(): void {
    const startedMs = starts.pop();
    if (startedMs !== undefined) measure(startedMs);
  }

  /** Reports the code that has run since `startedMs`, without the part that was reported before. */
  function measure(startedMs: number, request?: Context): void {
    const nowMs = now();
    const durationMs = nowMs - Math.max(startedMs, reportedMs);
    if (durationMs <= STALL_MS) return;
    reportedMs = nowMs;
    const ctx = request ?? requests.getStore();
    // Later, because this may be a hook, whose errors end the process, and the route may not be known yet.
    setImmediate(reportStall, durationMs, ctx);
  }

  function reportStall(durationMs: number, ctx: Context | undefined): void {
    const route = ctx && (ctx.route?.path ?? 'none');
    metrics.countStall(route ?? '');
    const code = ctx ? `${ctx.method} ${route}` : 'Code outside of watched requests';
    const message = `${code} blocked the event loop for ${Math.round(durationMs)} ms`;
    (ctx?.log ?? logger).warn(message);
  }

  const hook = createHook({ before, after, trackPromises: false });

  function resume(): void {
    callbacks = 0;
    hook.enable();
    stopPromiseHooks ??= promiseHooks.createHook({ before, after }) as () => void;
  }

  function pause(): void {
    hook.disable();
    stopPromiseHooks?.();
    stopPromiseHooks = undefined;
    starts.length = 0;
  }

  return {
    run(ctx, next) {
      const startedMs = now();
      try {
        return stopPromiseHooks ? requests.run(ctx, next) : next();
      } finally {
        measure(startedMs, ctx);
      }
    },
    current: () => requests.getStore(),
    start() {
      interval ??= setInterval(resume, INTERVAL_MS).unref();
      resume();
    },
    stop() {
      clearInterval(interval);
      interval = undefined;
      pause();
    },
  };
}
