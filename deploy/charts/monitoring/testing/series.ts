/** Series in the notation of promtool: values at each minute, by name and labels. */
export type Series = Readonly<Record<string, string>>;

/** Minutes. */
export const DAY = 24 * 60;

/** Minutes of normal operation before a fault: the longest window of an alert. */
export const HISTORY = 3 * DAY;

/** The end of a fault that began after the history and lasted for `minutes`. */
export const after = (minutes: number) => HISTORY + minutes;

/** A counter in consecutive phases: its increase per minute, and the number of minutes. */
export function counter(...phases: readonly (readonly [perMinute: number, minutes: number])[]) {
  let value = 0;
  const parts = phases.map(([perMinute, minutes]) => {
    const part = `${value}+${perMinute}x${minutes - 1}`;
    value += perMinute * minutes;
    return part;
  });
  return parts.join(' ');
}

/** One series of a pod of `service`. */
export function series(
  service: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  values: string,
): Series {
  const all = { namespace: 'trial', service: `fw-${service}-metrics`, pod: 'a', ...labels };
  const matchers = Object.entries(all).map(([label, value]) => `${label}="${value}"`);
  return { [`${name}{${matchers.join()}}`]: values };
}

/** Whether Prometheus could read the metrics of a pod: 1 or 0. */
export function up(service: string, values = '1x20000', pod = 'a'): Series {
  return series(service, 'up', { pod }, values);
}

/** Requests to users with a class of status. */
export function requests(status: string, values: string, method = 'GET'): Series {
  return series('users', 'http_requests_total', { method, route: '/api/v2/users', status }, values);
}

/** Of 600 requests per minute, a share fails for some minutes. */
export function failing(share: number, minutes: number, minutesSince = 1): Series {
  return {
    ...requests('2xx', counter([600, HISTORY], [600 * (1 - share), minutes], [600, minutesSince])),
    ...requests('5xx', counter([0, HISTORY], [600 * share, minutes], [0, minutesSince])),
  };
}

/** Of 600 requests per minute, a share takes longer than each of `limits` for some minutes. */
export function slow(
  limits: readonly string[],
  share: number,
  { minutes, method = 'GET' }: { readonly minutes: number; readonly method?: string },
): Series {
  const labels = { method, route: '/api/v2/users', status: '2xx' };
  const all = counter([600, HISTORY + minutes]);
  const fast = counter([600, HISTORY], [600 * (1 - share), minutes]);
  const buckets = ['0.25', '0.5', '1'].map((le) =>
    series(
      'users',
      'http_request_duration_seconds_bucket',
      { ...labels, le },
      limits.includes(le) ? fast : all,
    ),
  );
  return Object.assign(
    series('users', 'http_request_duration_seconds_count', labels, all),
    ...buckets,
  );
}

/** Decisions of a rate limiter of reports. */
export function decisions(outcome: string, values: string): Series {
  return series('reports', 'rate_limit_decisions_total', { limit: 'reports-v2', outcome }, values);
}
