import type { Parts } from '@fw/core';
import { metadataOf, statusOf } from '@fw/core/extension';
import { annotate, type Middleware } from 'fw';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

import {
  type ClientRequest,
  createClientCounter,
  createRequestMetrics,
  type RequestResult,
} from './request-metrics.ts';

/** Codes can come from data: undeclared ones beyond this number share `other`. */
const MAX_CODES = 100;

const SHED_REASONS = ['in_flight', 'queue_delay', 'client_left', 'body_memory'] as const;

/** Why a request was not processed because of overload. */
export type ShedReason = (typeof SHED_REASONS)[number];

/** The metrics of one process, in the format of Prometheus. */
export interface Metrics {
  /** The registry of prom-client; add metrics of your own to it. */
  readonly register: Registry;
  /** The number of requests that have begun and not ended. */
  readonly inFlight: number;
  /** Whether as many calls wait for a connection of a pool as the pool can have connections. */
  readonly isSaturated: boolean;
  /** A request has begun. */
  begin(): void;
  /** A request has ended. `scheme` is that of its connection; default `http`. */
  end(result: RequestResult, scheme?: 'http' | 'https'): void;
  /** Counts a request that load shedding rejected. */
  countShed(reason: ShedReason): void;
  /** Counts a response that breaks the contract of its route; `code` is that of an undeclared error. */
  countViolation(response: {
    readonly route: string;
    readonly status: number;
    readonly code?: string;
  }): void;
  /** Counts an open WebSocket of the route; the result ends it. */
  countWebSocket(route: string): () => void;
  /** Counts a callback that blocked the event loop; `route` is empty outside of requests. */
  countStall(route: string): void;
  /** Counts a request by version and client; the first 100 clients of a version have series of their own. */
  countClient(request: ClientRequest): void;
  /** Wraps `limiter`: each of its decisions is counted as `allowed`, `refused`, `local` or `failed`. */
  countDecisions<P extends Parts = Parts>(limit: string, limiter: CountedLimiter<P>): Middleware<P>;
  /** Reads the number of requests that wait for their turn with `read` whenever the metrics are read. */
  watchQueue(read: () => number): void;
  /** Sets the result of a check of a part that the service needs. */
  setCheck(check: string, passes: boolean): void;
  /** Reads the use of a connection pool with `read` whenever the metrics are read. */
  watchPool(pool: string, read: () => PoolUse): void;
}

/** Numbers of connections, and of queries that wait for one. */
export interface PoolUse {
  /** The maximum of `size`. */
  readonly max: number;
  readonly size: number;
  readonly idle: number;
  readonly waiting: number;
}

/** A limiter of `@fw/rate-limit`, or another one that calls `next` for the requests it allows. */
export interface CountedLimiter<P extends Parts = Parts> extends Middleware<P> {
  /** Default: always available. */
  isStoreAvailable?(): boolean;
}

export interface MetricsOptions {
  /** Adds the metrics of the process: CPU time, memory, event loop lag. Default false. */
  readonly hasProcessMetrics?: boolean;
  /** Adds `target_info` with `service_name` and `service_version`, which marks releases in a dashboard. Default: none. */
  readonly service?: { readonly name: string; readonly version: string };
}

/** Creates the metrics of one process. */
export function createMetrics({
  hasProcessMetrics = false,
  service,
}: MetricsOptions = {}): Metrics {
  const register = new Registry();
  const registers = [register];
  if (hasProcessMetrics) collectDefaultMetrics({ register });
  if (service) {
    new Gauge({
      name: 'target_info',
      help: 'Always 1; the labels are the name and the version of the service.',
      labelNames: ['service_name', 'service_version'],
      registers,
    }).set({ service_name: service.name, service_version: service.version }, 1);
  }
  let inFlight = 0;
  const record = createRequestMetrics(register);
  new Gauge({
    name: 'http_server_active_requests',
    help: 'Requests that have begun and not ended.',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  const checks = new Gauge({
    name: 'service_check_passes',
    help: '1 if a part that the service needs works, such as its store, otherwise 0.',
    labelNames: ['check'],
    registers,
  });
  let readQueue = () => 0;
  new Gauge({
    name: 'http_requests_queued',
    help: 'Requests that wait until the event loop or a connection pool has time for them.',
    registers,
    collect() {
      this.set(readQueue());
    },
  });
  const shed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests not processed because of overload, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of SHED_REASONS) shed.inc({ reason }, 0);
  const violations = new Counter({
    name: 'http_response_contract_violations_total',
    help: 'Responses that break the contract of their route, by route pattern and status.',
    labelNames: ['http_route', 'http_response_status_code'],
    registers,
  });
  const webSockets = new Gauge({
    name: 'websockets_open',
    help: 'Open WebSockets by route pattern.',
    labelNames: ['http_route'],
    registers,
  });
  const undeclared = new Counter({
    name: 'http_undeclared_errors_total',
    help: 'Errors that their route does not declare, by route pattern and code.',
    labelNames: ['http_route', 'code'],
    registers,
  });
  const undeclaredCodes = new Set<string>();
  const stalls = new Counter({
    name: 'http_event_loop_blocked_total',
    help: 'Callbacks that blocked the event loop for more than 50 ms, by route pattern.',
    labelNames: ['http_route'],
    registers,
  });
  stalls.inc({ http_route: '' }, 0);
  const decisions = new Map<string, Record<Decision, number>>();
  new Counter({
    name: 'rate_limit_decisions_total',
    help: 'Decisions of the rate limits, by outcome.',
    labelNames: ['limit', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [limit, counts] of decisions) {
        for (const [outcome, count] of Object.entries(counts)) this.inc({ limit, outcome }, count);
      }
    },
  });
  const pools = new Map<string, () => PoolUse>();
  watchPools(registers, pools);

  return {
    register,
    get inFlight() {
      return inFlight;
    },
    get isSaturated() {
      for (const read of pools.values()) {
        const { max, waiting } = read();
        if (waiting >= max) return true;
      }
      return false;
    },
    begin() {
      inFlight++;
    },
    end(result, scheme = 'http') {
      inFlight--;
      record(result, scheme);
    },
    countShed(reason) {
      shed.inc({ reason });
    },
    countViolation({ route, status, code }) {
      if (code === undefined)
        return violations.inc({ http_route: route, http_response_status_code: status });
      if (undeclaredCodes.size < MAX_CODES) undeclaredCodes.add(code);
      undeclared.inc({ http_route: route, code: undeclaredCodes.has(code) ? code : 'other' });
    },
    countWebSocket(route) {
      webSockets.inc({ http_route: route });
      return () => webSockets.dec({ http_route: route });
    },
    countStall(route) {
      stalls.inc({ http_route: route });
    },
    countClient: createClientCounter(register),
    countDecisions(limit, limiter) {
      const counts = decisions.get(limit) ?? { allowed: 0, refused: 0, local: 0, failed: 0 };
      decisions.set(limit, counts);
      return countDecisions(limiter, (outcome) => {
        counts[outcome]++;
      });
    },
    watchQueue(read) {
      readQueue = read;
    },
    setCheck(check, passes) {
      checks.set({ check }, passes ? 1 : 0);
    },
    watchPool(pool, read) {
      pools.set(pool, read);
    },
  };
}

/** Adds the use of connection pools: https://opentelemetry.io/docs/specs/semconv/db/database-metrics/. */
function watchPools(registers: Registry[], pools: ReadonlyMap<string, () => PoolUse>): void {
  const pool = 'db_client_connection_pool_name';
  const state = 'db_client_connection_state';
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Used and idle connections of a pool.',
    labelNames: [pool, state],
    registers,
    collect() {
      for (const [name, read] of pools) {
        const { size, idle } = read();
        this.set({ [pool]: name, [state]: 'used' }, size - idle);
        this.set({ [pool]: name, [state]: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'db_client_connection_max',
    help: 'The largest number of connections of a pool.',
    labelNames: [pool],
    registers,
    collect() {
      for (const [name, read] of pools) this.set({ [pool]: name }, read().max);
    },
  });
  new Gauge({
    name: 'db_client_connection_pending_requests',
    help: 'Calls that wait for a connection of a pool.',
    labelNames: [pool],
    registers,
    collect() {
      for (const [name, read] of pools) this.set({ [pool]: name }, read().waiting);
    },
  });
}

/**
 * What a limiter decides about a request. `local`: it allowed or refused the request without its store,
 * which is unavailable. `failed`: it did not decide.
 */
type Decision = 'allowed' | 'refused' | 'local' | 'failed';

/** A limiter allows a request by calling `next`; otherwise it sends a response or throws. */
function countDecisions<P extends Parts>(
  limiter: CountedLimiter<P>,
  count: (outcome: Decision) => void,
): Middleware<P> {
  const decide = (outcome: 'allowed' | 'refused') =>
    count(limiter.isStoreAvailable?.() === false ? 'local' : outcome);
  const counted: Middleware<P> = async (ctx, next) => {
    let isAllowed = false;
    try {
      await limiter(ctx, () => {
        isAllowed = true;
        decide('allowed');
        return next();
      });
      if (!isAllowed) decide('refused');
    } catch (error) {
      if (!isAllowed) {
        const status = statusOf(error);
        if (status === 429) decide('refused');
        else if (status >= 500) count('failed'); // below, such as 499, the client is the cause
      }
      throw error;
    }
  };
  return annotate(counted, metadataOf(limiter) ?? {});
}
