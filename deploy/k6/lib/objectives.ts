import { SERVICES } from '../../../services/services.ts';

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

const objectives = SERVICES.map(({ name }) => readObjectives(name));

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

/** @throws {Error} if `kind` has no latency objective */
export function objectiveOf(kind: Kind): LatencyObjective {
  const objective = LATENCY.get(kind);
  if (!objective) throw new Error(`"${kind}" has no latency objective: expected it in a slo.json`);
  return objective;
}

/** Reads the file in k6, which has `open`, and in Node. */
function readObjectives(service: string): Objectives {
  const file = `../../charts/${service}/files/slo.json`;
  if (typeof open === 'function') return JSON.parse(open(import.meta.resolve(file)));
  const { readFileSync } = process.getBuiltinModule('node:fs');
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}
