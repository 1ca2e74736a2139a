/** The requests of the page itself: its checks (HEAD), and documents, which have no route. */
const isIgnored = (labels) =>
  labels.includes('http_request_method="HEAD"') ||
  /http_route="",http_response_status_code="[23]/.test(labels);

/** Requests, 5xx responses and durations so far, without those that this page itself sends. */
export function readMetrics(text) {
  const sums = { requests: 0, errors: 0, buckets: new Map() };
  const series = /^http_server_request_duration_seconds_(?:count|bucket)\{(.+)\} (\d+)$/gm;
  for (const [, labels, value] of text.matchAll(series)) {
    if (isIgnored(labels)) continue;
    const [, le] = /\ble="(.+?)"/.exec(labels) ?? [];
    const count = Number(value);
    if (le) sums.buckets.set(le, (sums.buckets.get(le) ?? 0) + count);
    else sums.requests += count;
    if (!le && labels.includes('error_type="5')) sums.errors += count;
  }
  return sums;
}

/** Adds `other`, or subtracts it with the factor -1. */
export function add(sums, other, factor = 1) {
  const buckets = new Map(sums.buckets);
  for (const [le, count] of other.buckets) buckets.set(le, (buckets.get(le) ?? 0) + factor * count);
  return {
    requests: sums.requests + factor * other.requests,
    errors: sums.errors + factor * other.errors,
    buckets,
  };
}

/** The 99th percentile in ms, interpolated in its bucket as Prometheus does; NaN without requests. */
export function p99({ requests, buckets }) {
  const bounds = [...buckets].map(([le, count]) => [le === '+Inf' ? Infinity : Number(le), count]);
  let [low, below] = [0, 0];
  for (const [high, count] of bounds.sort(([one], [other]) => one - other)) {
    const rank = 0.99 * requests;
    if (count >= rank && rank > 0) {
      return (
        1_000 * (high === Infinity ? low : low + ((high - low) * (rank - below)) / (count - below))
      );
    }
    [low, below] = [high, count];
  }
  return Number.NaN;
}
