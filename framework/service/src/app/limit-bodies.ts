import { totalmem } from 'node:os';

import { type CountBodyBytes, countBody, hasBody, hasRun } from '@fw/core/extension';
import type { Middleware } from 'fw';

import type { Metrics } from '../metrics/metrics.ts';
import { sendUnavailable } from './send-unavailable.ts';

export interface BodyLimit {
  /** Maximum number of bytes of all bodies that are not yet parsed. */
  readonly maxBytes: number;
  readonly metrics: Pick<Metrics, 'countShed'>;
}

class BodyMemoryFull extends Error {}

/**
 * Responds with 503 to a request whose body does not fit into the memory for bodies that are still
 * arriving or wait to be parsed. Bodies of up to 16 KiB are not counted, and a single body always fits:
 * the parsers limit its size.
 */
export function limitBodies({ maxBytes, metrics }: BodyLimit): Middleware {
  let usedBytes = 0;
  const count: CountBodyBytes = (fromBytes, toBytes) => {
    const others = usedBytes - fromBytes;
    const isFull = others > 0 && others + toBytes > maxBytes;
    if (isFull && toBytes > fromBytes) return new BodyMemoryFull();
    usedBytes = others + toBytes;
    return undefined;
  };
  return (ctx, next) => {
    const { req } = ctx.raw;
    if (!hasBody(req)) return next();
    countBody(req, count);
    const running = next();
    if (hasRun(running)) return running;
    return running.catch((error: unknown) => {
      if (!(error instanceof BodyMemoryFull)) throw error;
      metrics.countShed('body_memory');
      sendUnavailable(ctx);
    });
  };
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
