import { Counter, type Metric, type Registry } from 'prom-client';

/** The result of one request. */
export interface RequestResult {
  readonly method: string;
  /** The pattern of the route; empty if no route matched. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Methods with a label of their own; others share one, so that clients cannot create series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']);

const DURATIONS = {
  name: 'http_server_request_duration_seconds',
  help: 'Duration of requests in seconds.',
  type: 'histogram',
  aggregator: 'sum',
};

/** The requests of one method to one route. */
interface RouteSeries {
  readonly labels: object;
  readonly byStatus: Map<number, Durations>;
}

/**
 * Upper bounds of the buckets. OpenTelemetry recommends 5 ms as the first one; most requests here take less.
 */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The failures that a service sends itself. Each route has them with the number 0 from its first request on: Prometheus
 * computes no rate from a counter that appears with the value 1, so it would miss a first failure.
 */
const EXPECTED_FAILURES = [500, 503];

/** How long requests took. */
class Durations {
  /** Requests by bucket; the last bucket has no upper bound. */
  readonly #counts = new Array<number>(BUCKETS_SECONDS.length + 1).fill(0);
  #sumSeconds = 0;

  add(seconds: number): void {
    const found = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? BUCKETS_SECONDS.length : found;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  /** The values of the histogram: the buckets are cumulative. */
  values(labels: object) {
    const { name } = DURATIONS;
    let value = 0;
    const buckets = this.#counts.map((count, at) => {
      value += count;
      const le = BUCKETS_SECONDS[at] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumSeconds },
      { metricName: `${name}_count`, labels, value },
    ];
  }
}

/**
 * Adds a histogram of the durations of requests to `register`, and returns a function that records a request. Names and
 * labels: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/. prom-client would format the labels of each
 * request, which takes seven times as long as adding it to a table. Here, labels are formatted when the metrics are read.
 */
export function createRequestMetrics(
  register: Registry,
): (result: RequestResult, scheme: string) => void {
  const routes = new Map<string, RouteSeries>();
  const metric = {
    ...DURATIONS,
    get: async () => ({ ...DURATIONS, values: [...routes.values()].flatMap(valuesOf) }),
    reset: () => routes.clear(),
  };
  // prom-client has no base class for metrics; its registry reads only these members.
  register.registerMetric(metric as unknown as Metric);
  return ({ method, route, status, durationMs }, scheme) => {
    const name = METHODS.has(method) ? method : '_OTHER';
    const key = `${name} ${scheme} ${route}`;
    let series = routes.get(key);
    if (!series) {
      const labels = { http_request_method: name, url_scheme: scheme, http_route: route };
      series = { labels, byStatus: new Map() };
      for (const failure of EXPECTED_FAILURES) series.byStatus.set(failure, new Durations());
      routes.set(key, series);
    }
    let durations = series.byStatus.get(status);
    if (!durations) {
      durations = new Durations();
      series.byStatus.set(status, durations);
    }
    durations.add(durationMs / 1_000);
  };
}

function valuesOf({ labels, byStatus }: RouteSeries) {
  return [...byStatus].flatMap(([status, durations]) => {
    // Clients cause 501: an unknown method or transfer coding. It is no failure of the service.
    const isFailure = status >= 500 && status !== 501;
    const error = isFailure ? { error_type: `${status}` } : {};
    return durations.values({ ...labels, http_response_status_code: status, ...error });
  });
}

/** A request of a client to a version of an API. */
export interface ClientRequest {
  readonly version: string;
  /** The path prefix of the version. */
  readonly path: string;
  readonly client: string;
}

/** Names of clients per version with a series of their own; all further clients share `other`. */
export const MAX_CLIENTS = 100;

/** The number of requests by client. */
interface VersionClients {
  readonly version: string;
  readonly counts: Map<string, number>;
}

/** Creates the counter of requests by version and client, with a bounded number of series. */
export function createClientCounter(register: Registry): (request: ClientRequest) => void {
  const clientsByPath = new Map<string, VersionClients>();
  new Counter({
    name: 'api_requests_total',
    help: 'Requests by version of the API and name of the client.',
    labelNames: ['version', 'path', 'client'],
    registers: [register],
    collect() {
      this.reset();
      for (const [path, { version, counts }] of clientsByPath) {
        for (const [client, count] of counts) this.inc({ version, path, client }, count);
      }
    },
  });
  return ({ version, path, client }) => {
    const counts = clientsByPath.get(path)?.counts ?? new Map<string, number>();
    if (counts.size === 0) clientsByPath.set(path, { version, counts });
    const name = counts.size < MAX_CLIENTS || counts.has(client) ? client : 'other';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
}
