import { preventStorage } from '@fw/core/extension';
import { timeout } from '@fw/middleware/timeout';
import { type Application, type Context, createApp, errorHandler } from 'fw';
import type { ServiceLogger } from '../logging/logging.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import type { Drain } from '../program/drain.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { failedCalls } from './failed-calls.ts';
import { defaultBodyMemory, limitBodies } from './limit-bodies.ts';
import { observe } from './observe.ts';
import { type SheddingLimits, shedLoad } from './shedding.ts';

/** What the process provides to its application. All members are optional, for tests. */
export interface ServiceRuntime {
  /** The service's name. */
  readonly name?: string;
  /** A logger with a `request` method logs each request. */
  readonly logger?: ServiceLogger;
  readonly drain?: Drain;
  /** Aborts when the service starts to close its connections: then close WebSockets. */
  readonly closing?: AbortSignal;
  /** Number of trusted proxies in front of the service. Default 0. */
  readonly trustProxy?: number;
  /** Adds stack traces to error responses. Default false. */
  readonly includeStack?: boolean;
  readonly metrics?: Metrics;
  /** Default: `traceparent` is passed on, and no spans are sent. */
  readonly tracing?: Tracing | undefined;
  /** Default: no limits. */
  readonly shedding?: SheddingLimits;
  /**
   * Maximum number of bytes of all request bodies that are not yet parsed. Default 0: an eighth of the
   * memory limit of the process; without a limit, of the machine's memory, of which at most 2 GiB count.
   */
  readonly bodyMemoryBytes?: number;
  /** Requests that begin before all others under overload. Default: none. */
  readonly isCritical?: (ctx: Context) => boolean;
  /** Time limit of a request, in milliseconds. Default 0: none. */
  readonly requestTimeoutMs?: number;
}

/**
 * Creates an application with the middleware of every service, in this order: logs and metrics, draining,
 * load shedding, error responses, failed calls of other services, memory of bodies, time limit. Responses
 * have `Cache-Control: no-store` unless a route sets another value.
 */
export function createServiceApp(runtime: ServiceRuntime = {}): Application {
  const { logger, drain, trustProxy = 0, includeStack = false } = runtime;
  const { metrics = createMetrics(), tracing, requestTimeoutMs = 0 } = runtime;
  const { shedding, isCritical, bodyMemoryBytes = 0 } = runtime;
  const observed = observe({ metrics, log: logger?.request, tracing });
  const app = createApp({
    trustProxy,
    deadlineMs: requestTimeoutMs,
    // Outermost: errors, 404 and requests rejected before routing have the header as well.
    outermost: (ctx, next) => {
      preventStorage(ctx);
      return observed(ctx, next);
    },
    ...(logger && { logger }),
  });
  if (drain) app.use(drain.closeConnections);
  if (shedding) app.use(shedLoad({ ...shedding, isCritical, metrics }));
  app.use(errorHandler({ includeStack }));
  app.use(failedCalls);
  app.use(limitBodies({ maxBytes: bodyMemoryBytes || defaultBodyMemory(), metrics }));
  if (requestTimeoutMs > 0) app.use(timeout(requestTimeoutMs));
  return app;
}
