import type { Options, Scenario, Threshold } from 'k6/options';

import { COMMON, readCount, readDuration, secondsOf } from './lib/options.ts';

export { createUser as setup, mixed } from './lib/mixed.ts';

/** The first rate, in requests per second, and the factor from one step to the next. */
const FIRST_RATE = 50;
const GROWTH = 1.25;
const WARM_UP_SECONDS = 10;
const STEP_SECONDS = secondsOf(readDuration('10s'));
const RATES = ratesUpTo(readCount('RATE', 4_000));

/** The shares of a step that may fail or be slower than the objective of their kind. */
const LIMITS = {
  http_req_failed: 'rate<0.001',
  slower_than_p95: 'rate<0.05',
  slower_than_p99: 'rate<0.01',
  dropped_iterations: 'count==0',
};

/** Steps of constant rates, each a quarter higher. The run stops at the end of the first that misses a limit. */
export const options: Options = {
  scenarios: {
    'warm-up': constant(FIRST_RATE, { startSeconds: 0, seconds: WARM_UP_SECONDS }),
    ...Object.fromEntries(
      RATES.map((rate, index) => [
        nameOf(rate),
        constant(rate, { startSeconds: startOf(index), seconds: STEP_SECONDS }),
      ]),
    ),
  },
  thresholds: Object.fromEntries(
    RATES.flatMap((rate, index) =>
      Object.entries(LIMITS).map(([metric, threshold]): [string, Threshold[]] => [
        `${metric}{scenario:${nameOf(rate)}}`,
        // Not earlier: one slow moment would be a large share of a step that has just begun.
        [{ threshold, abortOnFail: true, delayAbortEval: `${startOf(index + 1)}s` }],
      ]),
    ),
  ),
  ...COMMON,
};

/** A metric of the summary of k6. */
interface Metric {
  readonly values: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}

/** Prints the capacity: the highest rate that met all limits. */
export function handleSummary({ metrics }: { readonly metrics: Readonly<Record<string, Metric>> }) {
  const firstMissed = RATES.findIndex((rate) => {
    const metricOf = (name: string) => metrics[`${name}{scenario:${nameOf(rate)}}`];
    const { passes = 0, fails = 0 } = metricOf('http_req_failed')?.values ?? {};
    // A step without completed requests meets all limits.
    if (passes + fails < 0.95 * rate * STEP_SECONDS) return true;
    const limits = Object.keys(LIMITS).flatMap((name) =>
      Object.values(metricOf(name)?.thresholds ?? {}),
    );
    return limits.some(({ ok }) => !ok);
  });
  const text =
    firstMissed === -1
      ? `${RATES.at(-1)} requests per second or more: set a higher RATE`
      : `${RATES[firstMissed - 1] ?? 0} requests per second`;
  return { stdout: `Capacity: ${text}\n` };
}

function startOf(index: number): number {
  return WARM_UP_SECONDS + index * STEP_SECONDS;
}

function constant(
  rate: number,
  { startSeconds, seconds }: { readonly startSeconds: number; readonly seconds: number },
): Scenario {
  return {
    executor: 'constant-arrival-rate',
    rate,
    startTime: `${startSeconds}s`,
    duration: `${seconds}s`,
    // The next step uses the same virtual users.
    gracefulStop: '0s',
    // Enough for the objectives, whose 95th percentile is at most 500 ms.
    preAllocatedVUs: 20 + Math.ceil(rate / 2),
    exec: 'mixed',
  };
}

function ratesUpTo(maxRate: number): number[] {
  const rates: number[] = [];
  for (let rate = FIRST_RATE; rate < maxRate; rate *= GROWTH) rates.push(Math.round(rate));
  return [...rates, maxRate];
}

function nameOf(rate: number): string {
  return `at-${rate}`;
}
