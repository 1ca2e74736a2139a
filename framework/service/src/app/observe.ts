import { violationOf } from '@fw/core/extension';
import { type Context, type Middleware, onSent } from 'fw';

import type { RequestEntry } from '../logging/logging.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { runFor } from '../tracing/active-traces.ts';
import { readTraceparent } from '../tracing/trace-context.ts';
import type { Tracing } from '../tracing/tracing.ts';

export interface Observers {
  readonly metrics: Metrics;
  /** Logs a request. */
  readonly log?: ((entry: RequestEntry) => void) | undefined;
  readonly tracing?: Tracing | undefined;
}

/**
 * Sets `X-Request-Id` on each response; counts, logs and traces the request once the response has been
 * sent. Outermost middleware: also runs for requests rejected before routing.
 */
export function observe({ metrics, log, tracing }: Observers): Middleware {
  const end = (ctx: Context, status: number, startedMs: number): void => {
    const durationMs = Math.round((performance.now() - startedMs) * 1_000) / 1_000;
    const result = { method: ctx.method, route: ctx.route?.path ?? '', status, durationMs };
    metrics.end(result);
    const violation = violationOf(ctx);
    if (violation) metrics.countViolation({ route: result.route, status: violation.status });
    if (tracing) ctx.state.trace?.end(result);
    log?.({
      ...result,
      requestId: ctx.requestId,
      userId: ctx.state.user?.id,
      traceId: ctx.state.trace?.traceId ?? readTraceparent(ctx.get('traceparent'))?.traceId,
    });
  };
  return (ctx, next) => {
    const startedMs = performance.now();
    metrics.begin();
    ctx.set('X-Request-Id', ctx.requestId);
    onSent(ctx, (status) => end(ctx, status, startedMs));
    if (!tracing) return next();
    const trace = tracing.begin(ctx);
    ctx.state.trace = trace;
    return runFor([{ traces: [trace] }], next);
  };
}
