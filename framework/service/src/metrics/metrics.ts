import { metadataOf } from '@fw/core/extension';
import { annotate, type MatchedRoute, type Middleware } from 'fw';

import { statusOfError } from '../app/error-status.ts';
import type { PoolUse } from '../postgres/postgres.ts';
import type { Exposition } from './exposition.ts';
import { type Answered, createRequestTally } from './request-tally.ts';

/** Why a request was turned away before it was begun. */
export type ShedReason = 'in_flight' | 'event_loop_lag';

/** What a process counts of itself, for Prometheus to read. */
export interface Metrics {
  /** Requests that have begun and not ended. */
  readonly inFlight: number;
  begin(): void;
  /** `route` is the one that matched. */
  end(route: MatchedRoute | undefined, answered: Answered): void;
  countShed(reason: ShedReason): void;
  /** Wraps `limiter`: each of its decisions is counted as `allowed`, `refused` or `failed`. */
  countDecisions(limit: string, limiter: Middleware): Middleware;
  /** Has `read` asked for the use of a pool of connections whenever somebody reads the metrics. */
  watchPool(pool: string, read: () => PoolUse): void;
  /** The media type of what `metrics()` resolves with. */
  readonly contentType: string;
  /** All of it, and what Node says of the process, in Prometheus's text format. */
  metrics(): Promise<string>;
}

/**
 * Creates the counters of one process. Counting a request is an addition to a flat array; prom-client
 * is loaded, and told the sums, when the first scrape comes.
 */
export function createMetrics(): Metrics {
  const requests = createRequestTally();
  const shed = new Map<ShedReason, number>();
  const decisions = new Map<string, Decisions>();
  const pools = new Map<string, () => PoolUse>();
  let inFlight = 0;

  let exposition: Promise<Exposition> | undefined;
  const expose = async (): Promise<Exposition> => {
    const { createExposition } = await import('./exposition.ts');
    return createExposition({ requests, shed, decisions, pools, inFlight: () => inFlight });
  };

  return {
    get inFlight() {
      return inFlight;
    },
    begin() {
      inFlight++;
    },
    end(route, answered) {
      inFlight--;
      requests.add(route, answered);
    },
    countShed(reason) {
      shed.set(reason, (shed.get(reason) ?? 0) + 1);
    },
    countDecisions(limit, limiter) {
      const counts = decisions.get(limit) ?? { allowed: 0, refused: 0, failed: 0 };
      decisions.set(limit, counts);
      return countDecisions(limiter, counts);
    },
    watchPool(pool, read) {
      pools.set(pool, read);
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async metrics() {
      exposition ??= expose();
      return (await exposition).read();
    },
  };
}

/** What a limiter decided, so many times each; it failed where its store did, and it closes then. */
export interface Decisions {
  allowed: number;
  refused: number;
  failed: number;
}

/** What a limiter that lets a request pass does is go on; what it does otherwise is answer or throw. */
function countDecisions(limiter: Middleware, counts: Decisions): Middleware {
  const counted: Middleware = (ctx, next) => {
    let isAllowed = false;
    const pass = () => {
      isAllowed = true;
      counts.allowed++;
      return next();
    };
    const refuse = () => {
      if (!isAllowed) counts.refused++;
    };
    const fail = (error: unknown): never => {
      if (isAllowed) throw error;
      if (statusOfError(error) === 429) counts.refused++;
      else counts.failed++;
      throw error;
    };
    let result: unknown;
    try {
      result = limiter(ctx, pass);
    } catch (error) {
      return fail(error);
    }
    if (result instanceof Promise) return isAllowed ? result : result.then(refuse, fail);
    refuse();
    return result;
  };
  return annotate(counted, metadataOf(limiter) ?? {});
}
