import type { ServiceName } from '../../../services/services.ts';
import { errorBudget } from '../../slo.ts';
import { indicatorsOf, SINCE_START } from './indicators.ts';
import { MIN_BAD_EVENTS } from './rules.ts';

/** A measurement that decides about a release, in the form of an AnalysisTemplate of Argo Rollouts. */
export interface AnalysisMetric {
  readonly name: string;
  readonly interval?: string;
  readonly initialDelay?: string;
  /** How often it is measured; every measurement must succeed. */
  readonly count: number | string;
  readonly successCondition: string;
  readonly provider: {
    readonly prometheus: { readonly address: string; readonly query: string };
  };
}

/** Selects the series of the pods of one version: the controller replaces `{{args.pods}}` by their hash. */
const PODS = 'namespace="NAMESPACE",pod=~"SERVICE-{{args.pods}}-.*"';

/** Longer than two intervals in which Prometheus reads metrics. */
const FIRST_SAMPLES = '15s';

/**
 * The objectives of a service for the pods of one version, since these were started. The templates replace
 * NAMESPACE, SERVICE, PROMETHEUS, MEASUREMENTS and MEMORY_GROWTH, in bytes.
 */
export function analysisOf(service: ServiceName): AnalysisMetric[] {
  return [
    {
      name: 'has-metrics',
      initialDelay: FIRST_SAMPLES,
      count: 1,
      successCondition: 'len(result) > 0',
      provider: providerOf(`count(process_start_time_seconds{${PODS}})`),
    },
    ...indicatorsOf(service, PODS).map(({ alert, labels, objective, share, bad }) =>
      violationOf(
        [alert.replace('BudgetBurn', ''), ...Object.values(labels)].join('-').toLowerCase(),
        `${share(SINCE_START)} > ${errorBudget(objective)}\nand on () ${bad(SINCE_START)} >= ${MIN_BAD_EVENTS}`,
      ),
    ),
    violationOf('restarts', `changes(process_start_time_seconds{${PODS}}[5m]) > 0`),
    violationOf('memory', `${changeOf(`process_resident_memory_bytes{${PODS}}`)} > MEMORY_GROWTH`),
  ];
}

/** A metric whose query finds nothing as long as the version meets an objective. */
function violationOf(name: string, query: string): AnalysisMetric {
  return {
    name: name.replaceAll('.', '-'),
    interval: '5s',
    // The controller rejects a count that is an argument.
    count: 'MEASUREMENTS',
    successCondition: 'len(result) == 0',
    provider: providerOf(query),
  };
}

function changeOf(gauge: string): string {
  return `max_over_time(${gauge}[5m]) - min_over_time(${gauge}[5m])`;
}

function providerOf(query: string): AnalysisMetric['provider'] {
  return { prometheus: { address: 'PROMETHEUS', query } };
}
