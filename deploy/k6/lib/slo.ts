/** Latency objective of a kind of request, in milliseconds. */
export interface Objective {
  readonly p95Ms: number;
  readonly p99Ms: number;
}

const READ: Objective = { p95Ms: 250, p99Ms: 500 };
const WRITE: Objective = { p95Ms: 300, p99Ms: 1_000 };
/** A report needs responses of two other services, each requested at most twice. */
const REPORT: Objective = { p95Ms: 500, p99Ms: 1_500 };

/** Every kind of request that the scripts send: its method and route pattern. */
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
} as const satisfies Record<string, Objective>;

/** A method and a route pattern; each request is tagged with its kind. */
export type Kind = keyof typeof OBJECTIVES;

/** All kinds. */
export const KINDS = Object.keys(OBJECTIVES) as readonly Kind[];

export interface ThresholdOptions {
  /** The kinds of request that the script sends. */
  readonly kinds: readonly Kind[];
  /** Share of the requests that may fail. Default 0. */
  readonly failedRate?: number;
  /** Whether the script checks the content of responses; every check must then pass. Default false. */
  readonly hasChecks?: boolean;
  /** Multiplies the latency objectives, for slow machines and long distances. Default 1. */
  readonly latencyFactor?: number;
}

/** The objectives as k6 thresholds, in total and by kind of request. */
export function thresholdsOf({
  kinds,
  failedRate = 0,
  hasChecks = false,
  latencyFactor = 1,
}: ThresholdOptions): Record<string, string[]> {
  const byKind = kinds.map((kind): [string, string[]] => {
    const { p95Ms, p99Ms } = OBJECTIVES[kind];
    return [
      `http_req_duration{name:${kind}}`,
      [`p(95)<${p95Ms * latencyFactor}`, `p(99)<${p99Ms * latencyFactor}`],
    ];
  });
  return {
    // A load generator that is too slow sends less load: the measurement is then invalid.
    dropped_iterations: ['count==0'],
    http_req_failed: [failedRate === 0 ? 'rate==0' : `rate<${failedRate}`],
    ...(hasChecks && { checks: ['rate==1'] }),
    ...Object.fromEntries(byKind),
  };
}
