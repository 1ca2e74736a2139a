import { type Context, type Middleware, onSent } from 'fw';

import type { RequestEntry } from '../logging/logging.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readTraceparent } from '../tracing/trace-context.ts';
import type { Tracing } from '../tracing/tracing.ts';

export interface Observers {
  readonly metrics: Metrics;
  /** Writes the line of a request. */
  readonly log?: ((entry: RequestEntry) => void) | undefined;
  readonly tracing?: Tracing | undefined;
}

/**
 * Names each request in its response (`X-Request-Id`); counts, logs and traces it once the response
 * has been sent. For the option `outermost` of an application: requests that are rejected before routing
 * are observed too.
 */
export function observe({ metrics, log, tracing }: Observers): Middleware {
  const end = (ctx: Context, status: number, startedMs: number): void => {
    const durationMs = performance.now() - startedMs;
    const { method, route } = ctx;
    metrics.end(route, { method, status, durationMs });
    if (tracing) ctx.state.trace?.end({ route: route?.path ?? '', status });
    log?.({
      method,
      route: route?.path ?? '',
      status,
      durationMs,
      requestId: ctx.requestId,
      userId: ctx.state.user?.id,
      traceId: ctx.state.trace?.traceId ?? readTraceparent(ctx.get('traceparent'))?.traceId,
    });
  };
  return (ctx, next) => {
    const startedMs = performance.now();
    metrics.begin();
    ctx.set('X-Request-Id', ctx.requestId);
    if (tracing) ctx.state.trace = tracing.begin(ctx);
    onSent(ctx, (status) => end(ctx, status, startedMs));
    return next();
  };
}
