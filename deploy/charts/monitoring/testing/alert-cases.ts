import type { ServiceName } from '../../../../services/services.ts';
import {
  after,
  counter,
  DAY,
  decisions,
  failing,
  HISTORY,
  requests,
  type Series,
  series,
  slow,
  up,
} from './series.ts';

/** Series of a service, and the alerts that they cause. */
interface Case {
  readonly when: string;
  /** Default: users. */
  readonly service?: ServiceName;
  readonly series: Series;
  /** The minute at which the alerts are read. */
  readonly at: number;
  /** Every alert that fires, with its labels except namespace and service. */
  readonly fires: readonly string[];
}

/** Every alert fires in at least one case. */
export const CASES: readonly Case[] = [
  { when: 'there is no request', series: requests('2xx', '0x5000'), at: HISTORY, fires: [] },
  { when: 'no request fails', series: failing(0, 60), at: after(60), fires: [] },
  {
    when: 'half of the requests are errors of clients',
    series: { ...requests('2xx', '0+300x5000'), ...requests('4xx', '0+300x5000') },
    at: HISTORY,
    fires: [],
  },
  {
    when: 'clients send unknown methods',
    series: { ...requests('2xx', '0+300x5000'), ...requests('5xx', '0+300x5000', 'other') },
    at: HISTORY,
    fires: [],
  },
  { when: '10 % fail for 5 minutes', series: failing(0.1, 5), at: after(5), fires: [] },
  {
    when: '10 % fail for 10 minutes',
    series: failing(0.1, 10),
    at: after(10),
    fires: ['alertname="ErrorBudgetBurn", severity="critical", window="1h"'],
  },
  {
    when: '10 % failed for 10 minutes, which ended 6 minutes ago',
    series: failing(0.1, 10, 10),
    at: after(16),
    fires: [],
  },
  {
    when: '1 % fail for 4 hours',
    series: failing(0.01, 240),
    at: after(240),
    fires: ['alertname="ErrorBudgetBurn", severity="critical", window="6h"'],
  },
  {
    when: '0.2 % fail for 2 days',
    series: failing(0.002, 2 * DAY),
    at: after(2 * DAY),
    fires: ['alertname="ErrorBudgetBurn", severity="warning", window="3d"'],
  },
  {
    when: '0.05 % fail for 3 days',
    series: failing(0.0005, HISTORY),
    at: 2 * HISTORY,
    fires: [],
  },
  {
    when: 'the only three requests of a night fail',
    series: { ...requests('2xx', '10x5000'), ...requests('5xx', '0x4310 1 1 2 2 3 3 3 3 3 3 3') },
    at: HISTORY,
    fires: [],
  },
  {
    when: 'one request per minute fails, and no other arrives',
    series: { ...requests('2xx', '10x5000'), ...requests('5xx', counter([0, HISTORY], [1, 10])) },
    at: after(9),
    fires: [
      'alertname="ErrorBudgetBurn", severity="critical", window="1h"',
      'alertname="ErrorBudgetBurn", severity="critical", window="6h"',
      'alertname="ErrorBudgetBurn", severity="warning", window="3d"',
    ],
  },
  {
    when: 'a pod with many old failures restarts',
    series: { ...requests('2xx', '0+600x5000'), ...requests('5xx', '9000x4315 0x100') },
    at: HISTORY,
    fires: [],
  },
  {
    when: 'half of the reads are slow for 10 minutes',
    series: slow(['0.25', '0.5'], 0.5, { minutes: 10 }),
    at: after(10),
    fires: [],
  },
  {
    when: 'half of the reads take more than 500 ms for 20 minutes',
    series: slow(['0.25', '0.5'], 0.5, { minutes: 20 }),
    at: after(20),
    fires: [
      'alertname="LatencyBudgetBurn", kind="read", quantile="0.99", severity="critical", window="1h"',
    ],
  },
  {
    when: '10 % of the reads take more than 500 ms for 5 hours',
    series: slow(['0.25', '0.5'], 0.1, { minutes: 300 }),
    at: after(300),
    fires: [
      'alertname="LatencyBudgetBurn", kind="read", quantile="0.99", severity="critical", window="6h"',
    ],
  },
  {
    when: '10 % of the reads take 250 to 500 ms for 2 days',
    series: slow(['0.25'], 0.1, { minutes: 2 * DAY }),
    at: after(2 * DAY),
    fires: [
      'alertname="LatencyBudgetBurn", kind="read", quantile="0.95", severity="warning", window="3d"',
    ],
  },
  {
    when: '2 % of the writes take more than 1 s for 2 days',
    series: slow(['0.25', '0.5', '1'], 0.02, { minutes: 2 * DAY, method: 'POST' }),
    at: after(2 * DAY),
    fires: [
      'alertname="LatencyBudgetBurn", kind="write", quantile="0.99", severity="warning", window="3d"',
    ],
  },
  {
    when: '2 % of the writes take 500 ms to 1 s for 2 days',
    series: slow(['0.25', '0.5'], 0.02, { minutes: 2 * DAY, method: 'POST' }),
    at: after(2 * DAY),
    fires: [],
  },
  {
    when: 'no pod can be read for 4 minutes',
    series: up('users', '1x20 0x4'),
    at: 24,
    fires: ['alertname="ServiceUnavailable", severity="critical"'],
  },
  {
    when: 'no pod can be read for a minute',
    series: up('users', '1x20 0x1'),
    at: 21,
    fires: [],
  },
  {
    when: 'one of two pods cannot be read',
    series: {
      ...up('users', '0x60'),
      'up{namespace="trial",service="fw-users-metrics",pod="b"}': '1x60',
    },
    at: 60,
    fires: [],
  },
  {
    when: 'there is no pod',
    series: { ...up('reports'), ...up('users', '_x60') },
    at: 60,
    fires: ['alertname="ServiceUnavailable", severity="critical"'],
  },
  {
    when: 'load shedding rejects requests for 10 minutes',
    series: series(
      'users',
      'http_requests_shed_total',
      { reason: 'in_flight' },
      counter([0, 60], [30, 10]),
    ),
    at: 70,
    fires: ['alertname="RequestsShed", reason="in_flight", severity="warning"'],
  },
  {
    when: 'load shedding rejected requests an hour ago',
    series: series(
      'users',
      'http_requests_shed_total',
      { reason: 'in_flight' },
      counter([30, 9], [0, 60]),
    ),
    at: 69,
    fires: [],
  },
  {
    when: 'calls wait for a connection for 6 minutes',
    series: series('users', 'db_pool_connections', { pool: 'users', state: 'waiting' }, '0x20 3x7'),
    at: 27,
    fires: ['alertname="DatabasePoolExhausted", severity="warning"'],
  },
  {
    when: 'calls wait for a connection for 3 minutes',
    series: series('users', 'db_pool_connections', { pool: 'users', state: 'waiting' }, '0x20 3x3'),
    at: 23,
    fires: [],
  },
  {
    when: 'the limiter refuses most requests',
    service: 'reports',
    series: { ...decisions('allowed', '0+10x5000'), ...decisions('refused', '0+600x5000') },
    at: HISTORY,
    fires: [],
  },
  ...['failed', 'local'].map((outcome) => ({
    when: `10 % of the decisions have the outcome ${outcome} for 10 minutes`,
    service: 'reports' as const,
    series: {
      ...decisions('allowed', counter([600, HISTORY], [540, 11])),
      ...decisions(outcome, counter([0, HISTORY], [60, 11])),
    },
    at: after(10),
    fires: ['alertname="RateLimitBudgetBurn", severity="critical", window="1h"'],
  })),
];
