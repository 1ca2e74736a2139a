/** Objectives of a service, as shares of 30 days of events. */
export interface ServiceObjectives {
  /** Requests without a 5xx response. Load shedding counts as failure, errors of clients (4xx) do not. */
  readonly availability: number;
  /** Decisions of the rate limiter, if there is one, that its store made: not those of a replica alone. */
  readonly correctDecisions?: number;
}

/** The objectives of each service. */
export const SERVICE_OBJECTIVES = {
  users: { availability: 0.999 },
  catalog: { availability: 0.999 },
  reports: { availability: 0.999, correctDecisions: 0.999 },
} as const satisfies Record<string, ServiceObjectives>;

/** Share of events that may be bad, without the rounding error of binary fractions. */
export function errorBudget(objective: number): number {
  return Number((1 - objective).toPrecision(6));
}

/** Share of the requests to all services that may fail. */
export const FAILED_RATE = errorBudget(
  Math.min(...Object.values(SERVICE_OBJECTIVES).map(({ availability }) => availability)),
);

/**
 * Latency objective of successful requests, in milliseconds. Both limits must be boundaries of the histogram
 * `http_request_duration_seconds`.
 */
export interface LatencyObjective {
  /** The label `kind` of the alerts; unique within a service. */
  readonly name: string;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

const READ: LatencyObjective = { name: 'read', p95Ms: 250, p99Ms: 500 };
const WRITE: LatencyObjective = { name: 'write', p95Ms: 250, p99Ms: 1_000 };
/** A report needs responses of two other services, each requested at most twice. */
const REPORT: LatencyObjective = { name: 'report', p95Ms: 500, p99Ms: 1_000 };

/**
 * The kinds of requests with a latency objective, by method and route pattern. All others, such as
 * `GET /api/v2/users/figures`, count only towards the availability.
 */
export const OBJECTIVES = {
  'GET /api/v1/users': READ,
  'GET /api/v1/users/:id': READ,
  'POST /api/v1/users': WRITE,
  'PUT /api/v1/users/:id': WRITE,
  'DELETE /api/v1/users/:id': WRITE,
  'GET /api/v2/users': READ,
  'GET /api/v2/users/:id': READ,
  'POST /api/v2/users': WRITE,
  'PATCH /api/v2/users/:id': WRITE,
  'DELETE /api/v2/users/:id': WRITE,
  'GET /api/v1/catalog': READ,
  'GET /api/v2/catalog': READ,
  'GET /api/v2/catalog/facets': READ,
  'GET /api/v2/catalog/:id': READ,
  'GET /api/v1/reports': READ,
  'GET /api/v2/reports': READ,
  'GET /api/v2/reports/:id': REPORT,
} as const satisfies Record<string, LatencyObjective>;

/** A method and a route pattern. */
export type Kind = keyof typeof OBJECTIVES;

/** All kinds with an objective. */
export const KINDS = Object.keys(OBJECTIVES) as readonly Kind[];
