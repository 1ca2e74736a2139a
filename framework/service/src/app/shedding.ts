import type { Middleware } from 'fw';
import type { Metrics, ShedReason } from '../metrics/metrics.ts';
import type { EventLoopLag } from './event-loop-lag.ts';
import { answerUnavailable } from './unavailable.ts';

/** How much a process takes on. */
export interface SheddingLimits {
  /** Requests at work at once. */
  readonly maxInFlight: number;
  /** How late the event loop may be, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

export interface SheddingOptions extends SheddingLimits {
  readonly metrics: Pick<Metrics, 'inFlight' | 'countShed'>;
  readonly lag: Pick<EventLoopLag, 'lagMs'>;
}

/**
 * Answers 503 at once while there is more to do than can be done in time: those that are let in are
 * served, and a client that is told so can try elsewhere.
 */
export function shedLoad(options: SheddingOptions): Middleware {
  const { maxInFlight, maxEventLoopLagMs, metrics, lag } = options;
  const tooMuch = (): ShedReason | undefined => {
    if (metrics.inFlight > maxInFlight) return 'in_flight';
    return lag.lagMs > maxEventLoopLagMs ? 'event_loop_lag' : undefined;
  };
  return (ctx, next) => {
    const reason = tooMuch();
    if (reason === undefined) return next();
    metrics.countShed(reason);
    return answerUnavailable(ctx);
  };
}
