/** What a kind of request is held to, in milliseconds. */
export interface Objective {
  readonly p95Ms: number;
  readonly p99Ms: number;
}

const READ: Objective = { p95Ms: 250, p99Ms: 500 };
const WRITE: Objective = { p95Ms: 300, p99Ms: 1_000 };
/** Made of what two other services say, each asked at most twice. */
const REPORT: Objective = { p95Ms: 500, p99Ms: 1_500 };

/** Every kind of request that the scripts send, by its method and the pattern of its route. */
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

/** A method and the pattern of a route: what a request is tagged by. */
export type Kind = keyof typeof OBJECTIVES;

/** Every kind there is. */
export const KINDS = Object.keys(OBJECTIVES) as readonly Kind[];

export interface ThresholdOptions {
  /** What the script sends: a kind of which nothing was sent fails too. */
  readonly kinds: readonly Kind[];
  /** Share of the requests that may fail. Default 0. */
  readonly failedRate?: number;
  /** Whether the script checks what answers hold: every check has to pass then. Default false. */
  readonly hasChecks?: boolean;
  /** By how much latencies may be longer: for a slow machine or a long way. Default 1. */
  readonly latencyFactor?: number;
}

/** The objectives as k6 checks them, in total and by kind of request. */
export function thresholdsOf({
  kinds,
  failedRate = 0,
  hasChecks = false,
  latencyFactor = 1,
}: ThresholdOptions): Record<string, string[]> {
  const failures = [failedRate === 0 ? 'rate==0' : `rate<${failedRate}`];
  const byKind = kinds.flatMap((kind) => {
    const { p95Ms, p99Ms } = OBJECTIVES[kind];
    return [
      [`http_reqs{name:${kind}}`, ['count>0']],
      [`http_req_failed{name:${kind}}`, failures],
      [
        `http_req_duration{name:${kind}}`,
        [`p(95)<${p95Ms * latencyFactor}`, `p(99)<${p99Ms * latencyFactor}`],
      ],
    ] as const;
  });
  return Object.fromEntries<string[]>([
    // A generator that cannot keep up asks less of the system: its figures say nothing then.
    ['dropped_iterations', ['count==0']],
    ['http_req_failed', failures],
    ...(hasChecks ? [['checks', ['rate==1']] as [string, string[]]] : []),
    ...byKind.map(([metric, expressions]): [string, string[]] => [metric, [...expressions]]),
  ]);
}
