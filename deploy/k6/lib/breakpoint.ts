import type { Options, Scenario, Threshold } from 'k6/options';

/** The first rate, in requests per second, and the factor from one step to the next. */
const FIRST_RATE = 50;
const GROWTH = 1.25;
const WARM_UP_SECONDS = 10;

/**
 * The shares of a step that may fail or be slower than the objective of their kind. A step without
 * completed requests meets them, too: `readCapacity` counts the requests.
 */
const LIMITS = {
  http_req_failed: 'rate<0.001',
  slower_than_p95: 'rate<0.05',
  slower_than_p99: 'rate<0.01',
  dropped_iterations: 'count==0',
};

export interface BreakpointOptions {
  /** The highest rate, in requests per second. */
  readonly maxRate: number;
  /** Duration of each step. */
  readonly stepSeconds: number;
}

/** Steps of constant rates, each a quarter higher. The run stops at the end of the first that misses a limit. */
export function breakpoint(
  options: BreakpointOptions,
): Required<Pick<Options, 'scenarios' | 'thresholds'>> {
  const { stepSeconds } = options;
  const steps = ratesUpTo(options.maxRate).map((rate, index) => {
    const startSeconds = WARM_UP_SECONDS + index * stepSeconds;
    return { name: nameOf(rate), rate, startSeconds, endSeconds: startSeconds + stepSeconds };
  });
  const scenarios = steps.map(({ name, rate, startSeconds }): [string, Scenario] => [
    name,
    { ...constant(rate, stepSeconds), startTime: `${startSeconds}s` },
  ]);
  const thresholds = steps.flatMap(({ name, endSeconds }) =>
    Object.entries(LIMITS).map(([metric, threshold]): [string, Threshold[]] => [
      `${metric}{scenario:${name}}`,
      // Not earlier: one slow moment would be a large share of a step that has just begun.
      [{ threshold, abortOnFail: true, delayAbortEval: `${endSeconds}s` }],
    ]),
  );
  return {
    scenarios: {
      'warm-up': constant(FIRST_RATE, WARM_UP_SECONDS),
      ...Object.fromEntries(scenarios),
    },
    thresholds: Object.fromEntries(thresholds),
  };
}

function constant(rate: number, seconds: number): Scenario {
  return {
    executor: 'constant-arrival-rate',
    rate,
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
  return `at-${String(rate).padStart(5, '0')}`;
}

/** The metrics of `k6 run --summary-export`; a threshold is true if it was missed. */
export type Metrics = Readonly<
  Record<string, Readonly<Record<string, number> & { thresholds?: Record<string, boolean> }>>
>;

/** The highest rate that met all limits, in requests per second; 0 if the first did not. */
export function readCapacity(
  metrics: Metrics,
  { maxRate, stepSeconds }: BreakpointOptions,
): number {
  const rates = ratesUpTo(maxRate);
  const firstMissed = rates.findIndex((rate) => {
    const { passes = 0, fails = 0 } = metrics[`http_req_failed{scenario:${nameOf(rate)}}`] ?? {};
    const isMissed = Object.keys(LIMITS).some((metric) =>
      Object.values(metrics[`${metric}{scenario:${nameOf(rate)}}`]?.thresholds ?? {}).some(Boolean),
    );
    return isMissed || passes + fails < 0.95 * rate * stepSeconds;
  });
  return (firstMissed === -1 ? maxRate : rates[firstMissed - 1]) ?? 0;
}
