import { SERVICES } from '../../../services/services.ts';
import { LATENCY_FACTOR } from './options.ts';

/** A method and a route pattern, such as `GET /api/v2/users/:id`. */
export type Kind = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Latency objective of successful requests, in milliseconds. */
interface LatencyObjective {
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** `files/slo.json` of the chart of a service, from which its alerts are rendered too. */
interface Objectives {
  /** Share of the requests without a 5xx response. */
  readonly availability: number;
  /** By the label `kind` of the alerts. All other requests count only towards the availability. */
  readonly latency: Readonly<
    Record<string, LatencyObjective & { readonly requests: readonly Kind[] }>
  >;
}

const objectives = SERVICES.map(({ name }): Objectives => {
  const url = import.meta.resolve(`../../charts/${name}/files/slo.json`);
  // open() removes file:// from a URL, but does not decode the path.
  return JSON.parse(open(decodeURIComponent(url)));
});

/** The latency objective of each kind of requests that has one. */
const LATENCY: ReadonlyMap<Kind, LatencyObjective> = new Map(
  objectives
    .flatMap(({ latency }) => Object.values(latency))
    .flatMap(({ requests, ...objective }) => requests.map((kind) => [kind, objective])),
);

/** The kinds of requests with a latency objective. */
export const KINDS: readonly Kind[] = [...LATENCY.keys()];

/** Share of the requests to all services that may fail, without the rounding error of binary fractions. */
export const FAILED_RATE = Number(
  (1 - Math.min(...objectives.map(({ availability }) => availability))).toPrecision(6),
);

/** The latency objective, multiplied by `LATENCY_FACTOR`. @throws {Error} if `kind` has none */
export function objectiveOf(kind: Kind): LatencyObjective {
  const objective = LATENCY.get(kind);
  if (!objective) throw new Error(`"${kind}" has no latency objective: expected it in a slo.json`);
  const { p95Ms, p99Ms } = objective;
  return { p95Ms: p95Ms * LATENCY_FACTOR, p99Ms: p99Ms * LATENCY_FACTOR };
}

/** Thresholds of every script: a load generator that is too slow makes the measurement invalid. */
export function thresholdsOf(
  kinds: readonly Kind[],
  { failedRate = 0, factor = 1 }: { readonly failedRate?: number; readonly factor?: number } = {},
): Record<string, string[]> {
  return {
    dropped_iterations: ['count==0'],
    http_req_failed: [failedRate === 0 ? 'rate==0' : `rate<${failedRate}`],
    ...latencyThresholds(kinds, { factor }),
  };
}

/** The latency objectives multiplied by `factor`, of the requests with the tags that `tagsOf` returns. */
export function latencyThresholds(
  kinds: readonly Kind[],
  { factor, tagsOf }: { readonly factor: number; readonly tagsOf?: (kind: Kind) => string },
): Record<string, string[]> {
  return Object.fromEntries(
    kinds.map((kind): [string, string[]] => {
      const { p95Ms, p99Ms } = objectiveOf(kind);
      const tags = tagsOf ? `name:${kind},${tagsOf(kind)}` : `name:${kind}`;
      const limits = [`p(95)<${p95Ms * factor}`, `p(99)<${p99Ms * factor}`];
      return [`http_req_duration{${tags}}`, limits];
    }),
  );
}
