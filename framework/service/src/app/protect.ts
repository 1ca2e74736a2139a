import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { totalmem } from 'node:os';

import { ProblemError } from '@fw/client';
import {
  type CountBodyBytes,
  countBody,
  hasBody,
  hasRun,
  preventStorage,
  violationOf,
} from '@fw/core/extension';
import { timeout } from '@fw/middleware/timeout';
import { type Context, errorHandler, type Middleware, onSent, ServiceUnavailableError } from 'fw';

import type { ServiceLogger } from '../logging/logging.ts';
import { createMetrics, type Metrics, type ShedReason } from '../metrics/metrics.ts';
import { runFor } from '../tracing/active-traces.ts';
import { readTraceparent, type Tracing } from '../tracing/tracing.ts';
import { createAdmission } from './admission.ts';
import { sendUnavailable } from './responses.ts';

/** Whether the process is shutting down. */
export interface Drain {
  readonly isDraining: boolean;
}

/** The load at which a process rejects requests. */
export interface SheddingLimits {
  /**
   * Maximum number of requests in flight, including those that wait. Requests whose body is still
   * arriving have a limit of their own with the same value: slow uploads do not keep others out.
   */
  readonly maxInFlight: number;
}

export interface ProtectOptions {
  /** A logger with a `request` method logs each request. */
  readonly logger?: ServiceLogger;
  readonly metrics?: Metrics;
  /** Default: `traceparent` is passed on, and no spans are sent. */
  readonly tracing?: Tracing | undefined;
  readonly drain?: Drain;
  /** Default: no limits. */
  readonly shedding?: SheddingLimits;
  /** Requests that begin before all others under overload. Default: none. */
  readonly isCritical?: (ctx: Context) => boolean;
  /** Adds stack traces to error responses. Default false. */
  readonly includeStack?: boolean;
  /**
   * Maximum number of bytes of all request bodies that are not yet parsed. Default 0: an eighth of the
   * memory limit of the process; without a limit, of the machine's memory, of which at most 2 GiB count.
   */
  readonly bodyMemoryBytes?: number;
  /** Time limit of a request, in milliseconds. Default 0: none. */
  readonly requestTimeoutMs?: number;
}

/** The middleware of every service: `outermost` for `createApp`, then `inner` in order. */
export interface Protection {
  readonly outermost: Middleware;
  readonly inner: readonly Middleware[];
}

/**
 * Creates the middleware of every service, in this order: `Cache-Control: no-store`, metrics, trace and log
 * line; drain and load shedding; error responses; 503 for failed calls of other services and for bodies
 * without memory; time limit.
 */
export function protect({ metrics = createMetrics(), ...options }: ProtectOptions): Protection {
  const { includeStack = false, requestTimeoutMs = 0 } = options;
  const parts = { ...options, metrics };
  return {
    outermost: observe(parts),
    inner: [
      admit(parts),
      errorHandler({ includeStack }),
      respondUnavailable(parts),
      ...(requestTimeoutMs > 0 ? [timeout(requestTimeoutMs)] : []),
    ],
  };
}

interface Parts extends ProtectOptions {
  readonly metrics: Metrics;
}

/**
 * Sets `X-Request-Id` and `Cache-Control: no-store` on each response; counts, logs and traces the request
 * once the response has been sent. Outermost middleware: also runs for requests rejected before routing.
 */
function observe({ metrics, logger, tracing }: Parts): Middleware {
  const end = (ctx: Context, status: number, startedMs: number): void => {
    const durationMs = Math.round((performance.now() - startedMs) * 1_000) / 1_000;
    const result = { method: ctx.method, route: ctx.route?.path ?? '', status, durationMs };
    metrics.end(result);
    const violation = violationOf(ctx);
    if (violation) metrics.countViolation({ route: result.route, status: violation.status });
    if (tracing) ctx.state.trace?.end(result);
    logger?.request?.({
      ...result,
      requestId: ctx.requestId,
      userId: ctx.state.user?.id,
      traceId: ctx.state.trace?.traceId ?? readTraceparent(ctx.get('traceparent'))?.traceId,
    });
  };
  return (ctx, next) => {
    preventStorage(ctx);
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

/** Sets `Connection: close` on responses while the process is shutting down, and sheds load. */
export function admit({ drain, shedding, isCritical, metrics }: Parts): Middleware {
  const shed = shedding && shedLoad(shedding, metrics, isCritical);
  return (ctx, next) => {
    if (drain?.isDraining) ctx.set('Connection', 'close');
    return shed ? shed(ctx, next) : next();
  };
}

/**
 * Lets a request wait while the process is busy, and responds with 503 if it waits too long: accepted
 * requests are served in time, and rejected clients can try another replica.
 */
function shedLoad(
  { maxInFlight }: SheddingLimits,
  metrics: Metrics,
  isCritical: (ctx: Context) => boolean = () => false,
): Middleware {
  const admission = createAdmission({ isSaturated: () => metrics.isSaturated });
  const uploads = countUploads();
  metrics.watchQueue(() => admission.waiting);

  /** Whether this request is one too many: `metrics.inFlight` already contains it. */
  function isFull({ raw: { req } }: Context): boolean {
    if (!hasBody(req)) return metrics.inFlight - uploads.count > maxInFlight;
    uploads.add(req);
    return Math.max(uploads.count, metrics.inFlight - uploads.count) > maxInFlight;
  }

  function reject(ctx: Context, reason: ShedReason): void {
    metrics.countShed(reason);
    sendUnavailable(ctx);
  }

  return (ctx, next) => {
    if (isFull(ctx)) return reject(ctx, 'in_flight');
    if (admission.isOpen()) return next();
    return new Promise<void>((resolve) => {
      admission.enter({
        isCritical: isCritical(ctx),
        // Node ends a socket when its client does, one turn before the response closes.
        hasLeft: () => !ctx.raw.req.socket.writable,
        start: AsyncResource.bind(() => resolve(next())),
        reject(reason) {
          reject(ctx, reason);
          resolve();
        },
      });
    });
  };
}

/** Counts requests until their body has arrived, or their connection is closed. */
function countUploads() {
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(req: IncomingMessage): void {
      count++;
      let isOver = false;
      const end = () => {
        if (!isOver) count--;
        isOver = true;
      };
      req.once('end', end).once('close', end);
    },
  };
}

class BodyMemoryFull extends Error {}

/**
 * Responds with 503 if a call to another service fails and the handler does not catch the error, and to a
 * request whose body does not fit into the memory for bodies that are still arriving or wait to be parsed.
 * Bodies of up to 16 KiB are not counted, and a single body always fits: the parsers limit its size.
 */
function respondUnavailable({ bodyMemoryBytes, metrics }: Parts): Middleware {
  const maxBytes = bodyMemoryBytes || defaultBodyMemory();
  let usedBytes = 0;
  const count: CountBodyBytes = (fromBytes, toBytes) => {
    const others = usedBytes - fromBytes;
    const isFull = others > 0 && others + toBytes > maxBytes;
    if (isFull && toBytes > fromBytes) return new BodyMemoryFull();
    usedBytes = others + toBytes;
    return undefined;
  };
  const rejectBody = (ctx: Context, error: unknown): void => {
    if (!(error instanceof BodyMemoryFull)) throwUnavailable(error);
    metrics.countShed('body_memory');
    sendUnavailable(ctx);
  };
  return (ctx, next) => {
    const isCounted = hasBody(ctx.raw.req);
    if (isCounted) countBody(ctx.raw.req, count);
    const running = next();
    if (hasRun(running)) return running;
    return running.catch(isCounted ? (error: unknown) => rejectBody(ctx, error) : throwUnavailable);
  };
}

/** Converts the error of a failed call to another service to a 503 response. */
function throwUnavailable(cause: unknown): never {
  if (!(cause instanceof ProblemError)) throw cause;
  const headers = { 'Retry-After': String(cause.retryAfterSeconds ?? 1) };
  throw new ServiceUnavailableError(cause.message, { cause, headers });
}

const UNLIMITED_BYTES = 2 * 1024 ** 3;

/** An eighth of the memory limit of the process; without a limit, of the machine's memory, of which at most 2 GiB count. */
export function defaultBodyMemory(
  limitBytes = process.constrainedMemory(),
  totalBytes = totalmem(),
): number {
  // Without a limit, some systems report 0 and others a number that exceeds any memory.
  const isLimited = limitBytes > 0 && limitBytes < totalBytes;
  return Math.floor((isLimited ? limitBytes : Math.min(totalBytes, UNLIMITED_BYTES)) / 8);
}
