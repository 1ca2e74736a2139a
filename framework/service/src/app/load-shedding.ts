import { AsyncResource } from 'node:async_hooks';

import { hasBody } from '@fw/core/body';
import type { Context, Middleware } from 'fw';

import type { Metrics, ShedReason } from '../metrics/metrics.ts';
import { createAdmission } from './admission.ts';
import { sendUnavailable } from './responses.ts';

/** The load at which a process rejects requests. */
export interface SheddingLimits {
  /**
   * Maximum number of requests in flight, including those that wait. Requests whose body is still
   * arriving have a limit of their own with the same value: slow uploads do not keep others out.
   */
  readonly maxInFlight: number;
}

/**
 * Lets a request wait while the process is busy, and responds with 503 if it waits too long: accepted
 * requests are served in time, and rejected clients can try another replica.
 */
export function shedLoad(
  { maxInFlight }: SheddingLimits,
  metrics: Metrics,
  isCritical: (ctx: Context) => boolean = () => false,
): Middleware {
  const admission = createAdmission({ isSaturated: () => metrics.isSaturated });
  const uploads = countUploads();
  metrics.watchQueue(() => admission.waiting);

  /** Whether this request is one too many: `metrics.inFlight` already contains it. */
  function isFull({ raw }: Context): boolean {
    if (!hasBody(raw.req)) return metrics.inFlight - uploads.count > maxInFlight;
    uploads.add(raw);
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

/** Counts requests until their body has arrived, they were answered, or their connection is closed. */
function countUploads() {
  let count = 0;
  return {
    get count() {
      return count;
    },
    add({ req, res }: Context['raw']): void {
      count++;
      let isOver = false;
      const end = () => {
        if (!isOver) count--;
        isOver = true;
      };
      req.once('end', end);
      res.once('close', end);
    },
  };
}
