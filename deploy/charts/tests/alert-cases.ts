import type { ServiceName } from '../../../services/services.ts';

/** Series in the notation of promtool: values at each minute, by name and labels. */
type Series = Readonly<Record<string, string>>;

/** Minutes. */
export const DAY = 24 * 60;

/** Minutes of normal operation before a fault: the longest window of an alert. */
const HISTORY = 3 * DAY;

/** The end of a fault that began after the history and lasted for `minutes`. */
const after = (minutes: number) => HISTORY + minutes;

/** A phase of a counter: its increase per minute, and the number of minutes. */
type Phase = readonly [perMinute: number, minutes: number];

/** A counter in consecutive phases. */
function counter(...phases: readonly Phase[]): string {
  let value = 0;
  const parts = phases.map(([perMinute, minutes]) => {
    const part = `${value}+${perMinute}x${minutes - 1}`;
    value += perMinute * minutes;
    return part;
  });
  return parts.join(' ');
}

/** One series of a pod of `service`. */
function series(service: string, name: string, labels: Series, values: string): Series {
  const all = { namespace: 'trial', service: `fw-${service}-metrics`, pod: 'a', ...labels };
  const matchers = Object.entries(all).map(([label, value]) => `${label}="${value}"`);
  return { [`${name}{${matchers.join()}}`]: values };
}

/** Whether Prometheus could read the metrics of a pod: 1 or 0. */
export function up(service: string, values = '1x20000', pod = 'a'): Series {
  return series(service, 'up', { pod }, values);
}

/** What blackbox exporter reports of each request through the entry: 1 for a success. */
export function probed(service: string, values = '1x20000', name = 'probe_success'): Series {
  return { [`${name}{namespace="trial",service="fw-${service}"}`]: values };
}

const DURATION = 'http_server_request_duration_seconds';

const labelsOf = (method: string, status: string): Series => ({
  http_request_method: method,
  http_route: '/api/v2/users',
  http_response_status_code: status,
});

/** Requests to users with a status. */
function requests(status: string, values: string, method = 'GET'): Series {
  return series('users', `${DURATION}_count`, labelsOf(method, status), values);
}

/** Of 600 requests per minute, a share fails for some minutes. */
function failing(share: number, minutes: number, minutesSince = 1): Series {
  return {
    ...requests('200', counter([600, HISTORY], [600 * (1 - share), minutes], [600, minutesSince])),
    ...requests('500', counter([0, HISTORY], [600 * share, minutes], [0, minutesSince])),
  };
}

/** Of 600 requests per minute, a share takes longer than each of `limits` for some minutes. */
function slow(limits: readonly string[], share: number, minutes: number, method = 'GET'): Series {
  const labels = labelsOf(method, '200');
  const all = counter([600, HISTORY + minutes]);
  const fast = counter([600, HISTORY], [600 * (1 - share), minutes]);
  const buckets = ['0.25', '0.5', '1'].map((le) =>
    series('users', `${DURATION}_bucket`, { ...labels, le }, limits.includes(le) ? fast : all),
  );
  return Object.assign(series('users', `${DURATION}_count`, labels, all), ...buckets);
}

/** Requests that users rejects because of overload. */
function shed(...phases: readonly Phase[]): Series {
  return series('users', 'http_requests_shed_total', { reason: 'in_flight' }, counter(...phases));
}

/** Calls of users that wait for a connection to the database. */
function waiting(values: string): Series {
  return series(
    'users',
    'db_client_connection_pending_requests',
    { db_client_connection_pool_name: 'users' },
    values,
  );
}

/** Whether a pod of users can use its store. */
function storeWorks(values: string, pod = 'a'): Series {
  return series('users', 'service_check_passes', { check: 'store', pod }, values);
}

/** 600 decisions of the rate limiter per minute, a tenth of which have `outcome` for 11 minutes. */
function decisions(outcome: string): Series {
  const of = (name: string, values: string) =>
    series('reports', 'rate_limit_decisions_total', { limit: 'v2', outcome: name }, values);
  const others = of('allowed', counter([600, HISTORY], [540, 11]));
  return { ...others, ...of(outcome, counter([0, HISTORY], [60, 11])) };
}

/** 100 requests through the edge per minute that succeed, and some that get 502, by the source of the response. */
function edge(failing: Readonly<Record<string, string>>): Series {
  const of = (source: string, status: string, perMinute: string) =>
    series(
      'edge',
      'edge_http_requests_total',
      { source, status, upstream: 'users' },
      `0+${perMinute}x60`,
    );
  const others = Object.entries(failing).map(([source, count]) => of(source, '502', count));
  return Object.assign({}, of('service', '200', '100'), ...others);
}

/** An alert that an error budget is spent too fast, measured over `window`. */
function burn(name: string, window: string, kind = '', quantile = ''): string {
  const severity = window === '3d' ? 'warning' : 'critical';
  const labels = { alertname: `${name}BudgetBurn`, kind, quantile, severity, window };
  const set = Object.entries(labels).filter(([, value]) => value !== '');
  return set.map(([label, value]) => `${label}="${value}"`).join(', ');
}

const UNAVAILABLE = 'alertname="ServiceUnavailable", severity="critical"';
const EDGE_FAILING = 'alertname="EdgeFailing", severity="critical", upstream="users"';
const EDGE_UNAVAILABLE = 'alertname="EdgeUnavailable", severity="critical"';
const [MS_250, MS_500, MS_1000] = [['0.25'], ['0.25', '0.5'], ['0.25', '0.5', '1']];

/** What happens, its series, the minute at which every alert in the list fires, and the service. */
export const CASES: readonly (readonly [
  when: string,
  series: Series,
  at: number,
  fires: readonly string[],
  service?: ServiceName | 'edge',
  /** Between two values of a series. Default: a minute. */
  interval?: '5s',
])[] = [
  ['there is no request', requests('200', '0x5000'), HISTORY, []],
  [
    'half of the requests are errors of clients, or have unknown methods',
    {
      ...{ ...requests('200', '0+300x5000'), ...requests('404', '0+300x5000') },
      ...requests('500', '0+300x5000', '_OTHER'),
    },
    HISTORY,
    [],
  ],
  [
    '10 % fail for 10 minutes, with codes instead of classes of status',
    {
      ...requests('200', counter([600, HISTORY], [540, 11])),
      ...requests('503', counter([0, HISTORY], [60, 11])),
    },
    after(10),
    [burn('Error', '1h')],
  ],
  ['10 % fail for 5 minutes', failing(0.1, 5), after(5), []],
  ['10 % fail for 10 minutes', failing(0.1, 10), after(10), [burn('Error', '1h')]],
  ['10 % failed for 10 minutes, which ended 6 minutes ago', failing(0.1, 10, 10), after(16), []],
  ['1 % fail for 4 hours', failing(0.01, 240), after(240), [burn('Error', '6h')]],
  ['0.2 % fail for 2 days', failing(0.002, 2 * DAY), after(2 * DAY), [burn('Error', '3d')]],
  ['0.05 % fail for 3 days', failing(0.0005, HISTORY), after(HISTORY), []],
  [
    'the only three requests of a night fail',
    { ...requests('200', '10x5000'), ...requests('500', '0x4310 1 1 2 2 3 3 3 3 3 3 3') },
    HISTORY,
    [],
  ],
  [
    'one request per minute fails, and no other arrives',
    { ...requests('200', '10x5000'), ...requests('500', counter([0, HISTORY], [1, 10])) },
    after(9),
    ['1h', '6h', '3d'].map((window) => burn('Error', window)),
  ],
  [
    'a pod with many old failures restarts',
    { ...requests('200', '0+600x5000'), ...requests('500', '9000x4315 0x100') },
    HISTORY,
    [],
  ],
  [
    'half of the reads take more than 500 ms for 20 minutes',
    slow(MS_500, 0.5, 20),
    after(20),
    [burn('Latency', '1h', 'read', '0.99')],
  ],
  [
    '10 % of the reads take 250 to 500 ms for 2 days',
    slow(MS_250, 0.1, 2 * DAY),
    after(2 * DAY),
    [burn('Latency', '3d', 'read', '0.95')],
  ],
  [
    '2 % of the writes take more than 1 s for 2 days',
    slow(MS_1000, 0.02, 2 * DAY, 'POST'),
    after(2 * DAY),
    [burn('Latency', '3d', 'write', '0.99')],
  ],
  [
    '2 % of the writes take 500 ms to 1 s for 2 days',
    slow(MS_500, 0.02, 2 * DAY, 'POST'),
    after(2 * DAY),
    [],
  ],
  ['no pod can be read for 4 minutes', up('users', '1x20 0x4'), 24, [UNAVAILABLE]],
  ['no pod can be read for a minute', up('users', '1x20 0x1'), 21, []],
  [
    'one of two pods cannot be read',
    { ...up('users', '0x60'), ...up('users', '1x60', 'b') },
    60,
    [],
  ],
  ['there is no pod', { ...up('reports'), ...up('users', '_x60') }, 60, [UNAVAILABLE]],
  [
    'load shedding rejects requests for 10 minutes',
    shed([0, 60], [30, 10]),
    70,
    ['alertname="RequestsShed", reason="in_flight", severity="warning"'],
  ],
  ['load shedding rejected requests an hour ago', shed([30, 9], [0, 60]), 69, []],
  [
    'calls wait for a connection for 6 minutes',
    waiting('0x20 3x7'),
    27,
    ['alertname="DatabasePoolExhausted", severity="warning"'],
  ],
  [
    'one of two pods cannot use its store for 2 minutes',
    { ...storeWorks('1x20 0x3'), ...storeWorks('1x24', 'b') },
    23,
    ['alertname="StoreUnavailable", severity="critical"'],
  ],
  ['no pod could use its store for a minute', storeWorks('1x20 0 1x5'), 21, []],
  ['calls wait for a connection for 3 minutes', waiting('0x20 3x3'), 23, []],
  ['3 of 24 requests through the entry fail', probed('users', '1x57 0x2'), 5, [], 'users', '5s'],
  [
    '4 of 24 requests through the entry fail',
    probed('users', '1x37 0x0 1x2 0x2 1x16'),
    5,
    ['alertname="EntryFailing", severity="critical"'],
    'users',
    '5s',
  ],
  [
    'the certificate of the entry expires in 6 days',
    probed('users', `${6 * 86_400}x100`, 'probe_ssl_earliest_cert_expiry'),
    10,
    ['alertname="EntryCertificateExpires", severity="warning"'],
  ],
  [
    'the certificate of the entry expires in 8 days',
    probed('users', `${8 * 86_400}x100`, 'probe_ssl_earliest_cert_expiry'),
    10,
    [],
  ],
  [
    'no request through the entry was sent for 6 minutes',
    probed('users', '_x60'),
    6,
    ['alertname="EntryNotProbed", severity="warning"'],
  ],
  ['2 % of the requests get a 502 of the edge', edge({ edge: '2' }), 15, [EDGE_FAILING], 'edge'],
  ['2 % of the requests get a 502 of a service', edge({ service: '2' }), 15, [], 'edge'],
  ['no pod of the edge counts requests', {}, 5, [EDGE_UNAVAILABLE], 'edge'],
  ['the limiter refuses requests', decisions('refused'), after(10), [], 'reports'],
  ...(['failed', 'local'] as const).map(
    (outcome) =>
      [
        `10 % of the decisions have the outcome ${outcome} for 10 minutes`,
        decisions(outcome),
        after(10),
        [burn('RateLimit', '1h')],
        'reports',
      ] as const,
  ),
];
