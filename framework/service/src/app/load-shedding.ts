import { hasBody } from '@fw/core/body';
import type { Context, Middleware } from 'fw';

import type { Metrics, ShedReason } from '../metrics/metrics.ts';
import { sendUnavailable } from './unavailable.ts';

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
  const queue = createRequestQueue({ isSaturated: () => metrics.isSaturated });
  const uploads = countUploads();
  metrics.watchQueue(() => queue.waiting);

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
    if (queue.isOpen()) return next();
    // Node ends a socket when its client does, one turn before the response closes.
    const hasLeft = () => !ctx.raw.req.socket.writable;
    return queue
      .wait({ isCritical: isCritical(ctx), hasLeft })
      .then((rejection) => (rejection ? reject(ctx, rejection) : next()));
  };
}

/** Counts requests until their body has arrived, their response was sent, or their connection is closed. */
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

/** Why a request that waited does not begin. */
type Rejection = 'queue_delay' | 'client_left';

/** What the queue needs to know about a request. */
interface Entry {
  readonly isCritical: boolean;
  readonly hasLeft: () => boolean;
}

/** A request that waits for its turn. */
interface Waiting {
  readonly sinceMs: number;
  readonly hasLeft: () => boolean;
  readonly end: (rejection?: Rejection) => void;
}

export interface RequestQueueOptions {
  /**
   * Whether no further request may begin because of a resource: as many calls wait for a connection of a
   * pool as the pool can have connections.
   */
  readonly isSaturated: () => boolean;
  /** A clock in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/** Decides when a request may begin. */
export interface RequestQueue {
  /** Number of requests that wait. */
  readonly waiting: number;
  /** Whether a request that arrives now may begin immediately. */
  isOpen(): boolean;
  /** Waits until a request may begin, or until it is rejected. */
  wait(entry: Entry): Promise<Rejection | undefined>;
}

/** How long requests may run in one turn of the event loop before further ones wait. */
const TURN_MS = 10;

/**
 * How long requests of the queue may run in one turn. If the other work of the turn took longer, they may
 * run as long as that. The time is short because Node accepts one new connection per turn.
 */
const QUEUED_TURN_MS = 2;

/** Maximum number of waiting requests that begin in one turn. */
const MAX_STARTS = 32;

/** Maximum wait in the queue. The start of another pod on the same node may delay requests by a second. */
const MAX_WAIT_MS = 2_000;

/** Maximum wait while the queue is overloaded. */
const OVERLOADED_MAX_WAIT_MS = 500;

/** The queue is overloaded if its oldest request has waited longer than the target during the whole interval. */
const TARGET_MS = 100;
const INTERVAL_MS = 2_000;

/** Time between two looks at a saturated resource. */
const SATURATED_PAUSE_MS = 1;

/**
 * Creates the queue of a process. Requests begin immediately while the event loop and the resources have
 * time for them. Others wait for a later turn, critical requests first, and are rejected when they have
 * waited too long. A burst may wait longer than the requests of an overload, which lasts.
 *
 * This is CoDel (RFC 8289), with a maximum wait instead of a rate of rejections.
 */
export function createRequestQueue({
  isSaturated,
  now = () => performance.now(),
}: RequestQueueOptions): RequestQueue {
  const critical: Waiting[] = [];
  const normal: Waiting[] = [];
  let turnEndMs = 0;
  let isTurnOver = true;
  let scheduledMs = 0;
  let lastPunctualMs = 0;

  const count = () => critical.length + normal.length;
  const isOverloaded = (nowMs: number) => nowMs - lastPunctualMs > INTERVAL_MS;

  function isOpen(): boolean {
    if (count() > 0 || isSaturated()) return false;
    const nowMs = now();
    // All turns within 10 ms count as one, because `setImmediate` costs a system call in each turn.
    if (isTurnOver && nowMs >= turnEndMs) setImmediate(endTurn);
    return hasTime(nowMs);
  }

  /** Whether there is time for another request in this turn; begins a turn after the end of the last one. */
  function hasTime(nowMs: number): boolean {
    if (isTurnOver && nowMs >= turnEndMs) {
      isTurnOver = false;
      const queuedTurnMs = Math.max(QUEUED_TURN_MS, nowMs - scheduledMs);
      turnEndMs = nowMs + (count() > 0 ? queuedTurnMs : TURN_MS);
    }
    return nowMs < turnEndMs;
  }

  function endTurn(): void {
    isTurnOver = true;
  }

  function wait({ isCritical, hasLeft }: Entry): Promise<Rejection | undefined> {
    return new Promise((end) => {
      const sinceMs = now();
      const isFirst = count() === 0;
      (isCritical ? critical : normal).push({ sinceMs, hasLeft, end });
      if (!isFirst) return;
      lastPunctualMs = sinceMs;
      schedule();
    });
  }

  /**
   * Starts each request in its own immediate. Node runs the promise callbacks of a request before the next
   * immediate, so `startNext` knows how long the requests before it took.
   */
  function schedule(): void {
    scheduledMs = now();
    const starts = isSaturated() ? 0 : Math.min(count(), MAX_STARTS);
    for (let index = 0; index < starts; index++) setImmediate(startNext);
    if (starts > 0) setImmediate(finishTurn);
    else setTimeout(finishTurn, SATURATED_PAUSE_MS);
  }

  function finishTurn(): void {
    endTurn();
    turnEndMs = 0;
    const nowMs = now();
    for (const queue of [critical, normal]) rejectLate(queue, nowMs);
    const oldest = normal[0] ?? critical[0];
    if (oldest && nowMs - oldest.sinceMs <= TARGET_MS) lastPunctualMs = nowMs;
    if (count() > 0) schedule();
  }

  function startNext(): void {
    const nowMs = now();
    if (!hasTime(nowMs)) return;
    const next = critical.shift() ?? normal.shift();
    next?.end(next.hasLeft() ? 'client_left' : undefined);
  }

  function rejectLate(queue: Waiting[], nowMs: number): void {
    const limitMs = isOverloaded(nowMs) ? OVERLOADED_MAX_WAIT_MS : MAX_WAIT_MS;
    const inTime = queue.findIndex(({ sinceMs }) => nowMs - sinceMs <= limitMs);
    const late = queue.splice(0, inTime < 0 ? queue.length : inTime);
    for (const { end } of late) end('queue_delay');
  }

  return {
    get waiting() {
      return count();
    },
    isOpen,
    wait,
  };
}
