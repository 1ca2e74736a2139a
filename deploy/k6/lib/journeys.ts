import { scenario } from 'k6/execution';
import type { Options, Scenario } from 'k6/options';

import { SERVICES } from '../../../services/services.ts';
import { KINDS, thresholdsOf } from './objectives.ts';
import { COMMON } from './options.ts';

/** The journey of each service, in its folder: k6 can require a computed path, but not import it. */
const JOURNEYS: Readonly<Record<string, () => void>> = Object.fromEntries(
  SERVICES.map(({ name }) => {
    const file = import.meta.resolve(`../../../services/${name}/journey.ts`);
    return [name, require(file).journey];
  }),
);

/** Runs the journey of the service that has the name of the scenario. */
export function runJourney(): void {
  JOURNEYS[scenario.name]!();
}

interface JourneyOptions {
  /** Journeys per second, of all services together. */
  readonly rate: number;
  /** Share of the requests that may fail. Default 0. */
  readonly failedRate?: number;
  /** The scenario of one service, from its journeys per minute. */
  readonly scenarioAt: (perMinute: number) => object;
}

/** One scenario per service, which runs its journey, with its share of `rate`. */
export function journeys({ rate, failedRate = 0, scenarioAt }: JourneyOptions): Options {
  const total = SERVICES.reduce((sum, { loadShare }) => sum + loadShare, 0);
  const scenarioOf = (share: number) =>
    ({
      ...scenarioAt(Math.round(rate * share * 60)),
      timeUnit: '1m',
      preAllocatedVUs: Math.ceil(20 + 4 * rate * share),
    }) as Scenario;
  return {
    scenarios: Object.fromEntries(
      SERVICES.map(({ name, loadShare }) => [name, scenarioOf(loadShare / total)]),
    ),
    thresholds: { ...thresholdsOf(KINDS, { failedRate }), checks: ['rate==1'] },
    ...COMMON,
  };
}
