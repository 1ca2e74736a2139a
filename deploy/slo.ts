/** Latency objective of a kind of request, in milliseconds. */
export interface LatencyObjective {
  readonly p95Ms: number;
  readonly p99Ms: number;
}

const READ: LatencyObjective = { p95Ms: 250, p99Ms: 500 };
const WRITE: LatencyObjective = { p95Ms: 250, p99Ms: 1_000 };
/** A report needs responses of two other services, each requested at most twice. */
const REPORT: LatencyObjective = { p95Ms: 500, p99Ms: 1_000 };

/** Every kind of request, its method and route pattern, with its latency objective. */
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

/** All kinds. */
export const KINDS = Object.keys(OBJECTIVES) as readonly Kind[];
