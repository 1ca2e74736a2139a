import { type ServiceName, serviceOf } from '../../../services/services.ts';
import { errorBudget } from '../../slo.ts';
import { type Indicator, indicatorsOf, SERIES } from './indicators.ts';

/** A recording or alerting rule of Prometheus. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The groups of a file of rules. */
export interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/**
 * An alert fires if the error budget of 30 days is spent `rate` times as fast as it may be, in the long
 * window and still in the short one: https://sre.google/workbook/alerting-on-slos/.
 */
const BURN_RATES = [
  { rate: 14.4, long: '1h', short: '5m', severity: 'critical' },
  { rate: 6, long: '6h', short: '30m', severity: 'critical' },
  { rate: 1, long: '3d', short: '6h', severity: 'warning' },
] as const;

/** Fewer bad events than this in the long window are no alert: one of three requests at night. */
export const MIN_BAD_EVENTS = 5;

/** Labels of every rule; without them, the alerts of several services could not be distinguished. */
const SERVICE = { namespace: 'NAMESPACE', service: 'SERVICE' };

/** The rules of a service; the templates replace NAMESPACE, SERVICE and RUNBOOK. */
export function rulesOf(service: ServiceName): RuleGroups {
  const indicators = indicatorsOf(service);
  return {
    groups: [
      {
        name: 'SERVICE-objectives',
        rules: [...indicators.flatMap(recordingsOf), ...indicators.flatMap(burnAlertsOf)],
      },
      { name: 'SERVICE-causes', rules: causeAlertsOf(service) },
    ],
  };
}

/** The share of bad events in each window. */
function recordingsOf(indicator: Indicator): Rule[] {
  const { record, labels, share } = indicator;
  const windows = new Set(BURN_RATES.flatMap(({ long, short }) => [long, short]));
  return [...windows].map((window) => ({
    record: `${record}_${window}`,
    expr: share(window),
    labels: { ...SERVICE, ...labels },
  }));
}

function burnAlertsOf(indicator: Indicator): Rule[] {
  const { alert, record, labels, objective, description, bad } = indicator;
  const budget = errorBudget(objective);
  const matchers = Object.entries({ ...SERVICE, ...labels })
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
  return BURN_RATES.map(({ rate, long, short, severity }) => {
    const limit = Number((rate * budget).toPrecision(6));
    const exceeds = (window: string) => `${record}_${window}{${matchers}} > ${limit}`;
    return {
      alert,
      expr: `${exceeds(long)}\nand ${exceeds(short)}\nand on () ${bad(long)} >= ${MIN_BAD_EVENTS}`,
      labels: { severity, ...SERVICE, ...labels, window: long },
      annotations: annotationsOf(
        alert,
        `SERVICE: {{ $value | humanizePercentage }} of ${description}, measured over ${long}; ` +
          `the objective allows ${percent(budget)}`,
      ),
    };
  });
}

/** Alerts on causes: each needs an action even if the objectives are still met. */
function causeAlertsOf(service: ServiceName): Rule[] {
  const waiting = `sum(db_pool_connections{${SERIES},state="waiting"}) > 0`;
  return [
    causeAlert('ServiceUnavailable', {
      expr: `sum(up{${SERIES}}) == 0 or absent(up{${SERIES}})`,
      minutes: 2,
      severity: 'critical',
      summary: 'No pod of SERVICE responds to Prometheus',
    }),
    causeAlert('RequestsShed', {
      expr: `sum by (reason) (rate(http_requests_shed_total{${SERIES}}[5m])) > 0`,
      minutes: 5,
      severity: 'warning',
      summary: 'SERVICE rejects requests with 503 because of overload ({{ $labels.reason }})',
    }),
    ...(serviceOf(service).store === 'database'
      ? [
          causeAlert('DatabasePoolExhausted', {
            expr: waiting,
            minutes: 5,
            severity: 'warning',
            summary: 'Requests to SERVICE wait for a connection to the database',
          }),
        ]
      : []),
  ];
}

interface Cause {
  readonly expr: string;
  readonly minutes: number;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

function causeAlert(alert: string, { expr, minutes, severity, summary }: Cause): Rule {
  const labels = { severity, ...SERVICE };
  return { alert, expr, for: `${minutes}m`, labels, annotations: annotationsOf(alert, summary) };
}

function annotationsOf(alert: string, summary: string): Record<string, string> {
  return { summary, runbook_url: `RUNBOOK#${alert.toLowerCase()}` };
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(6))} %`;
}
