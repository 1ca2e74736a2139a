import { totalmem } from 'node:os';

import { ProblemError } from '@fw/client';
import { type CountBodyBytes, countBody, hasBody } from '@fw/core/body';
import { hasRun, PROBLEM_TYPE, problemOfStatus } from '@fw/core/extension';
import { type Context, type Middleware, ServiceUnavailableError } from 'fw';

import type { Metrics } from '../metrics/metrics.ts';

/**
 * Sends a 503 problem response with `Retry-After: 1`; `extensions` are further members of the problem. It
 * does not throw, because creating and logging an error per rejected request would be the largest cost.
 */
export function sendUnavailable(ctx: Context, extensions: object = {}): void {
  ctx.status = 503;
  ctx.set('Content-Type', PROBLEM_TYPE);
  ctx.set('Retry-After', '1');
  ctx.json({ ...problemOfStatus(503, ctx.requestId), ...extensions });
}

class BodyMemoryFull extends Error {}

/**
 * Responds with 503 in two cases: a call to another service fails, and the handler does not catch the error; or
 * the body of the request does not fit into the memory that all unparsed bodies share. Bodies of up to 16 KiB are
 * not counted. While no other body is counted, a body of any size fits: the parsers limit its size.
 */
export function respondUnavailable(metrics: Metrics, bodyMemoryBytes = 0): Middleware {
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

/** An eighth of the memory limit of the process. Without a limit: an eighth of the machine's memory, at most 256 MiB. */
export function defaultBodyMemory(
  limitBytes = process.constrainedMemory(),
  totalBytes = totalmem(),
): number {
  // Without a limit, some systems report 0 and others a number that exceeds any memory.
  const isLimited = limitBytes > 0 && limitBytes < totalBytes;
  return Math.floor((isLimited ? limitBytes : Math.min(totalBytes, UNLIMITED_BYTES)) / 8);
}
