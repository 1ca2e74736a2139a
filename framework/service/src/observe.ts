import { type Context, DONE, type Middleware, unmatchedStatus } from 'fw';

import { statusOfError } from './error-status.ts';
import type { RequestEntry } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { readTraceparent } from './trace-context.ts';
import type { Tracing } from './tracing.ts';

export interface Observers {
  readonly metrics: Metrics;
  /** Writes the line of a request. */
  readonly log?: ((entry: RequestEntry) => void) | undefined;
  readonly tracing?: Tracing | undefined;
}

/**
 * Names each request in its answer (`X-Request-Id`), and sees to it that it is counted, logged and
 * traced once it is answered. To be an application's `around`: refusals of the gate are answers too.
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
    const running = next();
    if (running === DONE) {
      end(ctx, statusOf(ctx), startedMs);
      return DONE;
    }
    return running.then(
      () => end(ctx, statusOf(ctx), startedMs),
      (error: unknown) => {
        end(ctx, statusOfError(error), startedMs);
        throw error;
      },
    );
  };
}

/** A client that has left reads no answer; nginx has this status for it, and it is nobody's failure. */
const CLIENT_LEFT = 499;

/** What the answer will say that is written once this middleware is done. */
function statusOf(ctx: Context): number {
  if (ctx.raw.res.destroyed) return CLIENT_LEFT;
  if (ctx.responded || ctx.status !== 200) return ctx.status;
  return ctx.route ? 204 : unmatchedStatus(ctx.method);
}
