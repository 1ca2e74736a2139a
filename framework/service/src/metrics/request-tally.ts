import type { MatchedRoute } from 'fw';

/** Upper bounds of the histogram's buckets, in milliseconds; one more bucket has none. */
const BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
];
const BUCKETS = BOUNDS_MS.length + 1;

/** `1xx` to `5xx`. */
const CLASSES = 5;

/** Methods that have a label of their own: what a client makes up must not make new series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']);

/** What the requests of one method on one route came to, by the class of their status. */
export interface Series {
  readonly method: string;
  /** The pattern, or `none` where no route matched. */
  readonly route: string;
  /** Such as `2xx`. */
  readonly status: string;
  readonly count: number;
  readonly sumSeconds: number;
  /** How many took at most so many seconds, for each bound. */
  readonly buckets: readonly { readonly boundSeconds: number; readonly count: number }[];
}

/** Counts requests: cheap enough to do for each, and bounded by the routes there are. */
export interface RequestTally {
  add(route: MatchedRoute | undefined, answer: Answered): void;
  /** What has come together so far. */
  read(): readonly Series[];
}

/** What one request came to. */
export interface Answered {
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

export function createRequestTally(): RequestTally {
  const byRoute = new Map<MatchedRoute | undefined, Map<string, Cell>>();

  const cellOf = (route: MatchedRoute | undefined, method: string): Cell => {
    let byMethod = byRoute.get(route);
    if (!byMethod) {
      byMethod = new Map();
      byRoute.set(route, byMethod);
    }
    let cell = byMethod.get(method);
    if (!cell) {
      if (!METHODS.has(method) && method !== 'other') return cellOf(route, 'other');
      cell = new Cell(method, route?.path ?? 'none');
      byMethod.set(method, cell);
    }
    return cell;
  };

  return {
    add(route, { method, status, durationMs }) {
      cellOf(route, method).add(status, durationMs);
    },
    read() {
      const series = [...byRoute.values()].flatMap((byMethod) =>
        [...byMethod.values()].flatMap((cell) => cell.read()),
      );
      return series.reduce(join, new Map()).values().toArray();
    },
  };
}

/** Flat arrays, a row for each class of status. */
class Cell {
  readonly #method: string;
  readonly #route: string;
  readonly #buckets = new Float64Array(CLASSES * BUCKETS);
  readonly #sumsMs = new Float64Array(CLASSES);

  constructor(method: string, route: string) {
    this.#method = method;
    this.#route = route;
  }

  add(status: number, durationMs: number): void {
    const row = Math.floor(status / 100) - 1;
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && durationMs > (BOUNDS_MS[bucket] as number)) bucket++;
    (this.#buckets[row * BUCKETS + bucket] as number)++;
    (this.#sumsMs[row] as number) += durationMs;
  }

  read(): Series[] {
    return Array.from(this.#sumsMs, (sumMs, row) => {
      let count = 0;
      const counts = this.#buckets.subarray(row * BUCKETS, (row + 1) * BUCKETS);
      const buckets = BOUNDS_MS.map((boundMs, at) => {
        count += counts[at] as number;
        return { boundSeconds: boundMs / 1000, count };
      });
      count += counts[BOUNDS_MS.length] as number;
      const labels = { method: this.#method, route: this.#route, status: `${row + 1}xx` };
      return { ...labels, count, sumSeconds: sumMs / 1000, buckets };
    }).filter(({ count }) => count > 0);
  }
}

/** Two routes may have one pattern: a router that was built again, a handler for each method. */
function join(joined: Map<string, Series>, series: Series): Map<string, Series> {
  const key = `${series.method} ${series.status} ${series.route}`;
  const present = joined.get(key);
  return joined.set(key, {
    ...series,
    count: series.count + (present?.count ?? 0),
    sumSeconds: series.sumSeconds + (present?.sumSeconds ?? 0),
    buckets: series.buckets.map(({ boundSeconds, count }, at) => ({
      boundSeconds,
      count: count + (present?.buckets[at]?.count ?? 0),
    })),
  });
}
