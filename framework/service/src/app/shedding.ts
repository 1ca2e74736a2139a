import type { Middleware } from 'fw';
import type { Metrics, ShedReason } from '../metrics/metrics.ts';
import type { EventLoopLag } from './event-loop-lag.ts';
import { sendUnavailable } from './send-unavailable.ts';

/** The load at which a process rejects requests. */
export interface SheddingLimits {
  /** Maximum number of requests in flight. */
  readonly maxInFlight: number;
  /** Maximum average event loop lag, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

export interface SheddingOptions extends SheddingLimits {
  readonly metrics: Pick<Metrics, 'inFlight' | 'countShed'>;
  readonly lag: Pick<EventLoopLag, 'lagMs'>;
}

/**
 * Responds with 503 immediately while the process is overloaded: accepted requests are served in time, and
 * rejected clients can try another replica.
 */
export function shedLoad(options: SheddingOptions): Middleware {
  const { maxInFlight, maxEventLoopLagMs, metrics, lag } = options;
  const reasonToShed = (): ShedReason | undefined => {
    if (metrics.inFlight > maxInFlight) return 'in_flight';
    return lag.lagMs > maxEventLoopLagMs ? 'event_loop_lag' : undefined;
  };
  return (ctx, next) => {
    const reason = reasonToShed();
    if (reason === undefined) return next();
    metrics.countShed(reason);
    return sendUnavailable(ctx);
  };
}
