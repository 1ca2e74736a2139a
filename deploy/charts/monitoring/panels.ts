import { type ServiceName, serviceOf } from '../../../services/services.ts';
import { errorBudget } from '../../slo.ts';
import { type Indicator, indicatorsOf, SERIES } from './indicators.ts';

/** A query of a panel, with the legend of its series. */
interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** A time series panel; units are those of Grafana. */
export interface Panel {
  readonly title: string;
  readonly unit: 'reqps' | 'percentunit' | 's' | 'short' | 'bytes';
  readonly queries: readonly Query[];
}

/** The interval that Grafana chooses: at least four scrapes. */
const RATE = '$__rate_interval';

/** The panels of a service: rate, errors, duration, objectives, load. */
export function panelsOf(service: ServiceName): Panel[] {
  return [
    ...requestPanels(),
    ...objectivePanels(service),
    ...saturationPanels(),
    ...(serviceOf(service).store === 'database' ? [poolPanel()] : []),
    ...(serviceOf(service).store === 'counters' ? [decisionsPanel()] : []),
  ];
}

/** Rate, errors and duration by version of the API. */
function requestPanels(): Panel[] {
  const requests = byVersion('http_requests_total');
  const failed = byVersion('http_requests_total', ',status="5xx"');
  const duration = (quantile: number) =>
    `histogram_quantile(${quantile}, ${byVersion('http_request_duration_seconds_bucket', '', 'le')})`;
  return [
    {
      title: 'Requests per second',
      unit: 'reqps',
      queries: [{ expr: requests, legend: '{{version}}' }],
    },
    {
      title: '5xx responses, share',
      unit: 'percentunit',
      queries: [{ expr: `${failed} / ${requests}`, legend: '{{version}}' }],
    },
    {
      title: 'Response time',
      unit: 's',
      queries: [0.5, 0.95, 0.99].map((quantile) => ({
        expr: duration(quantile),
        legend: `{{version}} p${quantile * 100}`,
      })),
    },
    {
      title: 'Response time by route, 99th percentile',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (le, method, route) (rate(http_request_duration_seconds_bucket{${SERIES}}[${RATE}])))`,
          legend: '{{method}} {{route}}',
        },
      ],
    },
  ];
}

/** The rate of a counter by version, which is the second segment of the route: `/api/v2/users`. */
function byVersion(counter: string, matchers = '', label?: string): string {
  const rate = `rate(${counter}{${SERIES},route=~"/api/v.+"${matchers}}[${RATE}])`;
  const labels = ['version', ...(label ? [label] : [])].join(', ');
  return `sum by (${labels}) (label_replace(${rate}, "version", "$1", "route", "/api/(v[0-9]+)/.*"))`;
}

/** What remains of the error budgets, and the shares of bad events that use them up. */
function objectivePanels(service: ServiceName): Panel[] {
  const indicators = indicatorsOf(service);
  const nameOf = ({ alert, labels }: Indicator) =>
    [alert.replace('BudgetBurn', ''), labels.kind, labels.quantile].filter(Boolean).join(' ');
  return [
    {
      title: 'Error budget left, of 30 days',
      unit: 'percentunit',
      queries: indicators.map((indicator) => ({
        expr: `1 - (${indicator.share('30d')}) / ${errorBudget(indicator.objective)}`,
        legend: nameOf(indicator),
      })),
    },
    {
      title: 'Failed and slow requests, share',
      unit: 'percentunit',
      queries: indicators.map((indicator) => ({
        expr: indicator.share(RATE),
        legend: nameOf(indicator),
      })),
    },
  ];
}

function saturationPanels(): Panel[] {
  const byPod = (title: string, unit: Panel['unit'], expr: string): Panel => ({
    title,
    unit,
    queries: [{ expr, legend: '{{pod}}' }],
  });
  return [
    byPod('Requests in flight', 'short', `sum by (pod) (http_requests_in_flight{${SERIES}})`),
    {
      title: 'Requests rejected because of overload, per second',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (reason) (rate(http_requests_shed_total{${SERIES}}[${RATE}]))`,
          legend: '{{reason}}',
        },
      ],
    },
    byPod(
      'Event loop lag, 99th percentile',
      's',
      `max by (pod) (nodejs_eventloop_lag_p99_seconds{${SERIES}})`,
    ),
    byPod(
      'CPU cores',
      'short',
      `sum by (pod) (rate(process_cpu_seconds_total{${SERIES}}[${RATE}]))`,
    ),
    byPod('Memory', 'bytes', `max by (pod) (process_resident_memory_bytes{${SERIES}})`),
  ];
}

function poolPanel(): Panel {
  return {
    title: 'Connections to the database',
    unit: 'short',
    queries: [{ expr: `sum by (state) (db_pool_connections{${SERIES}})`, legend: '{{state}}' }],
  };
}

function decisionsPanel(): Panel {
  return {
    title: 'Rate limit decisions per second',
    unit: 'reqps',
    queries: [
      {
        expr: `sum by (limit, outcome) (rate(rate_limit_decisions_total{${SERIES}}[${RATE}]))`,
        legend: '{{limit}} {{outcome}}',
      },
    ],
  };
}
