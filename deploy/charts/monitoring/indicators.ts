import type { ServiceName } from '../../../services/services.ts';
import {
  KINDS,
  type LatencyObjective,
  OBJECTIVES,
  SERVICE_OBJECTIVES,
  type ServiceObjectives,
} from '../../slo.ts';

/** Selects the series of one release; the templates replace NAMESPACE and SERVICE. */
export const SERIES = 'namespace="NAMESPACE",service="SERVICE-metrics"';

/** The window that begins with the start of the pods. */
export const SINCE_START = 'start';

/** Measures an objective in PromQL. */
export interface Indicator {
  /** The name of its alerts, and of their section in docs/operations/runbook.md. */
  readonly alert: string;
  /** The name of its recording rules, without the window. */
  readonly record: string;
  /** Labels that distinguish indicators with the same name. */
  readonly labels: Readonly<Record<string, string>>;
  /** Share of good events. */
  readonly objective: number;
  /** The bad events, for people: `requests fail (5xx)`. */
  readonly description: string;
  /** Share of bad events within a window such as `5m`, or `SINCE_START`. */
  readonly share: (window: string) => string;
  /** Number of bad events within a window. */
  readonly bad: (window: string) => string;
}

/** The indicators of all objectives of a service, measured with the series that a selector such as `SERIES` selects. */
export function indicatorsOf(service: ServiceName, series = SERIES): Indicator[] {
  const { availability, correctDecisions }: ServiceObjectives = SERVICE_OBJECTIVES[service];
  return [
    availabilityOf(availability, series),
    ...latencyObjectivesOf(service).flatMap((objective) => {
      const requests = `${series},${requestsOf(service, objective)}`;
      return [
        latencyOf(objective, { requests, quantile: 0.95, limitMs: objective.p95Ms }),
        latencyOf(objective, { requests, quantile: 0.99, limitMs: objective.p99Ms }),
      ];
    }),
    ...(correctDecisions === undefined ? [] : [decisionsOf(correctDecisions, series)]),
  ];
}

/** The different latency objectives of the requests to a service. */
export function latencyObjectivesOf(service: ServiceName): LatencyObjective[] {
  return withUniqueNames(service, [...new Set(kindsOf(service).map((kind) => OBJECTIVES[kind]))]);
}

/**
 * Returns the objectives of a service.
 *
 * @throws {Error} if two have the same name: their alerts could not be distinguished
 */
export function withUniqueNames(
  service: ServiceName,
  objectives: LatencyObjective[],
): LatencyObjective[] {
  const names = objectives.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated === undefined) return objectives;
  throw new Error(
    `Two latency objectives of ${service} in slo.ts have the name "${repeated}": expected different names`,
  );
}

function kindsOf(service: ServiceName) {
  return KINDS.filter((kind) => serviceIn(kind) === service);
}

/** `users` for `GET /api/v1/users/:id`. */
function serviceIn(kind: string): string | undefined {
  return kind.split('/')[3];
}

function availabilityOf(objective: number, series: string): Indicator {
  // An unknown method gets 501, which is an error of the client.
  const total = `http_requests_total{${series},method!="other"}`;
  const failed = `http_requests_total{${series},method!="other",status="5xx"}`;
  return {
    alert: 'ErrorBudgetBurn',
    record: 'service:http_requests_failed:ratio',
    labels: {},
    objective,
    description: 'requests fail (5xx)',
    share: (window) => shareOf(failed, total, window),
    bad: (window) => increase(failed, window),
  };
}

function latencyOf(
  objective: LatencyObjective,
  {
    requests,
    quantile,
    limitMs,
  }: { readonly requests: string; readonly quantile: number; readonly limitMs: number },
): Indicator {
  const { name } = objective;
  const histogram = 'http_request_duration_seconds';
  const selector = `${requests},status=~"2xx|3xx"`;
  const total = `${histogram}_count{${selector}}`;
  const fast = `${histogram}_bucket{${selector},${upperBound(limitMs)}}`;
  return {
    alert: 'LatencyBudgetBurn',
    record: 'service:http_requests_slow:ratio',
    labels: { kind: name, quantile: String(quantile) },
    objective: quantile,
    description: `successful ${name} requests take longer than ${limitMs} ms`,
    share: (window) => `1 - ${shareOf(fast, total, window)}`,
    bad: (window) => `(${increase(total, window)} - ${increase(fast, window)})`,
  };
}

/** Selects the requests with a latency objective by their methods and routes. */
export function requestsOf(service: ServiceName, objective: LatencyObjective): string {
  const kinds = kindsOf(service).filter((kind) => OBJECTIVES[kind] === objective);
  const pairs = kinds.map((kind) => kind.split(' '));
  const words = (index: number) => [...new Set(pairs.map((pair) => pair[index]))].join('|');
  return `method=~"${words(0)}",route=~"${words(1)}"`;
}

/** Prometheus 3 writes whole numbers as `1.0`, earlier versions as `1`. */
function upperBound(limitMs: number): string {
  const seconds = limitMs / 1_000;
  return Number.isInteger(seconds) ? `le=~"${seconds}([.]0)?"` : `le="${seconds}"`;
}

function decisionsOf(objective: number, series: string): Indicator {
  const total = `rate_limit_decisions_total{${series}}`;
  const failed = `rate_limit_decisions_total{${series},outcome=~"failed|local"}`;
  return {
    alert: 'RateLimitBudgetBurn',
    record: 'service:rate_limit_decisions_failed:ratio',
    labels: {},
    objective,
    description: 'decisions of the rate limiter are made without its store',
    share: (window) => shareOf(failed, total, window),
    bad: (window) => increase(failed, window),
  };
}

function increase(counter: string, window: string): string {
  return window === SINCE_START ? `sum(${counter})` : `sum(increase(${counter}[${window}]))`;
}

function shareOf(part: string, total: string, window: string): string {
  return `${increase(part, window)}\n  / ${increase(total, window)}`;
}
