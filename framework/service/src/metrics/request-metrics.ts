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
  name: 'http_request_duration_seconds',
  help: 'Duration of requests in seconds.',
  type: 'histogram',
  aggregator: 'sum',
};

/** The requests of one method to one route. */
interface RouteSeries {
  readonly labels: { readonly method: string; readonly route: string };
  /** By class of status: index 2 is 2xx. A class without requests is a hole, which `forEach` skips. */
  readonly classes: Durations[];
}

/** Upper bounds of the buckets of durations. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long requests took. */
class Durations {
  /** Requests by bucket; the last bucket has no upper bound. */
  readonly #counts = new Array<number>(BUCKETS_SECONDS.length + 1).fill(0);
  #sumSeconds = 0;
  count = 0;

  add(seconds: number): void {
    const found = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? BUCKETS_SECONDS.length : found;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumSeconds += seconds;
    this.count++;
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
      { metricName: `${name}_count`, labels, value: this.count },
    ];
  }
}

/**
 * Adds the number of requests and a histogram of their durations to `register`, and returns a function
 * that records a request. prom-client would format the labels of each request, which takes seven times
 * as long as adding it to a table. Here, labels are formatted when the metrics are read.
 */
export function createRequestMetrics(register: Registry): (result: RequestResult) => void {
  const routes = new Map<string, RouteSeries>();
  registerCount(register, routes);
  registerDurations(register, routes);
  return ({ method, route, status, durationMs }) => {
    const name = METHODS.has(method) ? method : 'other';
    const key = `${name} ${route}`;
    let series = routes.get(key);
    if (!series) {
      series = { labels: { method: name, route: route || 'none' }, classes: [] };
      routes.set(key, series);
    }
    // Clients cause 501: an unknown method or transfer coding. It is no failure of the service.
    const statusClass = status === 501 ? 4 : Math.floor(status / 100);
    series.classes[statusClass] ??= new Durations();
    series.classes[statusClass].add(durationMs / 1_000);
  };
}

/**
 * Each route has a counter of 5xx from its first request on. Prometheus computes no rate from a counter that
 * appears with the value 1, so it would miss a first failure; it still does if that is the first request.
 */
function registerCount(register: Registry, routes: ReadonlyMap<string, RouteSeries>): void {
  new Counter({
    name: 'http_requests_total',
    help: 'Requests by route pattern, method and class of status.',
    labelNames: ['method', 'route', 'status'],
    registers: [register],
    collect() {
      this.reset();
      for (const { labels, classes } of routes.values()) {
        this.inc({ ...labels, status: '5xx' }, 0);
        classes.forEach(({ count }, at) => {
          this.inc({ ...labels, status: `${at}xx` }, count);
        });
      }
    },
  });
}

function registerDurations(register: Registry, routes: Map<string, RouteSeries>): void {
  const valuesOf = ({ labels, classes }: RouteSeries) =>
    classes.flatMap((durations, at) => durations.values({ ...labels, status: `${at}xx` }));
  const metric = {
    ...DURATIONS,
    get: async () => ({ ...DURATIONS, values: [...routes.values()].flatMap(valuesOf) }),
    reset: () => routes.clear(),
  };
  // prom-client has no base class for metrics; its registry reads only these members.
  register.registerMetric(metric as unknown as Metric);
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
