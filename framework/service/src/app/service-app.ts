import {
  addedLogFields,
  isUpgrade,
  preventStorage,
  upgradedConnection,
  userIdOf,
  viaOf,
  violationOf,
} from '@fw/core/extension';
import { timeout } from '@fw/middleware/timeout';
import {
  type Application,
  type Context,
  compose,
  createApp,
  errorHandler,
  type Middleware,
  onSent,
} from 'fw';

import type { ServiceLogger } from '../logging/logging.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { readTraceparent, runWithTraces, schemeOf, type Tracing } from '../tracing/tracing.ts';
import { type SheddingLimits, shedLoad } from './load-shedding.ts';
import type { StallWatch } from './stall-watch.ts';
import { respondUnavailable, sendUnavailable } from './unavailable.ts';

/** Whether the process is shutting down. */
export interface Drain {
  readonly isDraining: boolean;
}

/** What the process provides to its application. All members are optional, for tests. */
export interface ServiceRuntime {
  /** The service's name. */
  readonly name?: string;
  /** A logger with a `request` method logs each request. */
  readonly logger?: ServiceLogger;
  readonly metrics?: Metrics;
  /** Default: `traceparent` is passed on, and no spans are sent. */
  readonly tracing?: Tracing | undefined;
  /** Attributes stalls of the event loop to requests. Default: none are reported. */
  readonly stalls?: StallWatch;
  readonly drain?: Drain;
  /** Number of trusted proxies in front of the service. Default 0. */
  readonly trustProxy?: number;
  /** Adds stack traces to error responses. Default false. */
  readonly includeStack?: boolean;
  /** Default: no limits. */
  readonly shedding?: SheddingLimits;
  /** Also runs for requests that are shed or rejected before routing, such as `cors()`. Default: none. */
  readonly outermost?: Middleware;
  /** Requests that begin before all others under overload. Default: none. */
  readonly isCritical?: (ctx: Context) => boolean;
  /**
   * Maximum number of bytes of all request bodies that are not yet parsed. Default 0: an eighth of the
   * memory limit of the process. Without a limit: an eighth of the machine's memory, at most 256 MiB.
   */
  readonly bodyMemoryBytes?: number;
  /** Time limit of a request, in milliseconds. Default 0: none. */
  readonly requestTimeoutMs?: number;
}

/**
 * Creates an application with the middleware of every service, in this order:
 *
 * 1. `observe`: `Cache-Control: no-store`, which a route may replace; `X-Request-Id`; metrics, trace, log line
 * 2. the option `outermost`
 * 3. `drainAndShed`: `Connection: close` during the drain; load shedding
 * 4. `errorHandler`: error responses, which the middleware above can still change
 * 5. `respondUnavailable`: 503 for failed calls of other services and for bodies without memory
 * 6. `timeout`: the time limit of a request
 */
export function createServiceApp({
  metrics = createMetrics(),
  ...runtime
}: ServiceRuntime = {}): Application {
  const { logger, trustProxy = 0, includeStack = false, requestTimeoutMs = 0, outermost } = runtime;
  const observed = observe(metrics, runtime);
  const app = createApp({
    trustProxy,
    logFields: traceFields,
    deadlineMs: requestTimeoutMs, // aborts `ctx.signal`; timeout() sends 503
    outermost: outermost ? compose([observed, outermost]) : observed,
    ...(logger && { logger }),
  });
  return app.use(
    drainAndShed(metrics, runtime),
    errorHandler({ includeStack }),
    respondUnavailable(metrics, runtime.bodyMemoryBytes),
    ...(requestTimeoutMs > 0 ? [timeout(requestTimeoutMs)] : []),
  );
}

/**
 * Sets `X-Request-Id` and `Cache-Control: no-store` on each response; counts, logs and traces the request
 * once the response has been sent, and counts and logs a WebSocket until it is closed. Outermost middleware:
 * also runs for requests rejected before routing.
 */
function observe(metrics: Metrics, { logger, tracing, stalls }: ServiceRuntime): Middleware {
  const end = (ctx: Context, status: number, startedMs: number): void => {
    const durationMs = durationSince(startedMs);
    const route = ctx.route?.path ?? '';
    const result = { method: ctx.method, route, status, durationMs };
    metrics.end(result, schemeOf(ctx));
    const violation = violationOf(ctx);
    if (violation) metrics.countViolation({ ...violation, route: result.route });
    if (tracing) ctx.state.trace?.end(result);
    const entry = {
      ...result,
      requestId: ctx.requestId,
      userId: userIdOf(ctx),
      traceId: traceIdOf(ctx),
      via: viaOf(ctx),
      fields: addedLogFields(ctx),
    };
    logger?.request?.(entry);
    const connection = upgradedConnection(ctx);
    if (!connection) return;
    const countEnd = metrics.countWebSocket(result.route);
    connection.closed.then((closeCode) => {
      countEnd();
      const fields = addedLogFields(ctx);
      logger?.request?.({ ...entry, durationMs: durationSince(startedMs), closeCode, fields });
    });
  };
  return (ctx, next) => {
    preventStorage(ctx);
    const startedMs = performance.now();
    metrics.begin();
    ctx.set('X-Request-Id', ctx.requestId);
    onSent(ctx, (status) => end(ctx, status, startedMs));
    const run = stalls ? () => stalls.run(ctx, next) : next;
    if (!tracing) return run();
    const trace = tracing.begin(ctx);
    ctx.state.trace = trace;
    return runWithTraces([{ traces: [trace] }], run);
  };
}

/** The id of the trace: of the span of this request, else of its client. */
function traceIdOf(ctx: Context): string | undefined {
  return ctx.state.trace?.traceId ?? readTraceparent(ctx.get('traceparent'))?.traceId;
}

/** What the lines of `ctx.log` have in addition. */
function traceFields(ctx: Context) {
  const traceId = traceIdOf(ctx);
  return traceId === undefined ? undefined : { traceId };
}

/** Milliseconds with three decimal places. */
function durationSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) * 1_000) / 1_000;
}

/**
 * Sets `Connection: close` on responses while the process is shutting down, rejects new WebSockets then,
 * and sheds load.
 */
function drainAndShed(
  metrics: Metrics,
  { drain, shedding, isCritical }: ServiceRuntime,
): Middleware {
  const shed = shedding && shedLoad(shedding, metrics, isCritical);
  return (ctx, next) => {
    if (drain?.isDraining) {
      if (isUpgrade(ctx)) return sendUnavailable(ctx);
      ctx.set('Connection', 'close');
    }
    return shed ? shed(ctx, next) : next();
  };
}
