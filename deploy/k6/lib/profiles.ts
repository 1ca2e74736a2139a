import type { Options, Scenario } from 'k6/options';

import { SERVICES } from '../../../services/services.ts';
import { breakpoint } from './breakpoint.ts';
import { COMPARED_KINDS, ROLLOUT_KINDS } from './kinds.ts';
import { FAILED_RATE, KINDS } from './objectives.ts';
import { overload } from './overload.ts';
import { type ThresholdOptions, thresholdsOf } from './thresholds.ts';
import {
  type Environment,
  readCount,
  readDuration,
  readFactor,
  readRetrySeconds,
  secondsOf,
} from './variables.ts';

/** Builds the options of a script from its environment. */
type Profile = (env: Environment) => Options;

/** Requests per minute and user that version 1 of reports allows. */
const V1_LIMIT = 100;

const COMMON: Options = {
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  userAgent: 'fw-load',
};

/** The profiles by name; each has a script of the same name. */
export const PROFILES = {
  /** A few iterations of each journey: everything works, and nothing is slow. */
  smoke: (env) =>
    optionsOf(env, {
      scenarios: steadyJourneys(env, { rate: 6, duration: '10s' }),
      kinds: KINDS,
      hasChecks: true,
    }),

  /** Arrivals that ramp up, hold and ramp down. */
  load: (env) =>
    optionsOf(env, {
      scenarios: journeysAt(readCount(env, 'RATE', 20), (rate) => ({
        executor: 'ramping-arrival-rate',
        startRate: 1,
        timeUnit: '1m',
        stages: [
          { target: rate * 60, duration: '10s' },
          { target: rate * 60, duration: readDuration(env, '1m') },
          { target: 0, duration: '5s' },
        ],
        preAllocatedVUs: Math.ceil(20 + 4 * rate),
      })),
      kinds: KINDS,
      failedRate: FAILED_RATE,
      hasChecks: true,
    }),

  /** A steady load for a long time: memory that is not released becomes visible. */
  soak: (env) =>
    optionsOf(env, {
      scenarios: steadyJourneys(env, { rate: 10, duration: '20m' }),
      kinds: KINDS,
      failedRate: FAILED_RATE,
      hasChecks: true,
    }),

  /** The rate rises to a peak beyond the capacity, and falls again. */
  stress: (env) => ({
    ...overload({
      rate: readCount(env, 'RATE', 1_000),
      duration: readDuration(env, '1m'),
      isGradual: true,
      latencyFactor: readFactor(env),
    }),
    ...COMMON,
  }),

  /** The rate jumps to ten times the normal load for a moment. */
  spike: (env) => ({
    ...overload({
      rate: readCount(env, 'RATE', 1_000),
      duration: readDuration(env, '10s'),
      isGradual: false,
      latencyFactor: readFactor(env),
    }),
    ...COMMON,
  }),

  /** Steps of rising rates until one misses an objective: the rate before it is the capacity. */
  breakpoint: (env) => {
    // Only checked here: the script multiplies the objective of each request.
    readFactor(env);
    return { ...breakpoint(breakpointOptions(env)), ...COMMON };
  },

  /** The same operations in both versions, at the same rate. */
  versions: (env) => {
    const rate = readCount(env, 'RATE', 10);
    const scenario = {
      executor: 'constant-arrival-rate',
      rate,
      duration: readDuration(env, '30s'),
      preAllocatedVUs: 20 + 4 * rate,
    } as const;
    return optionsOf(env, {
      scenarios: { v1: { ...scenario, exec: 'v1' }, v2: { ...scenario, exec: 'v2' } },
      kinds: Object.values(COMPARED_KINDS).flat(),
    });
  },

  /** Many simultaneous requests of one user. */
  'rate-limit': (env) => {
    const requests = readCount(env, 'REQUESTS', 300);
    const options = optionsOf(env, {
      scenarios: {
        burst: {
          executor: 'per-vu-iterations',
          vus: requests,
          iterations: 1,
          maxDuration: '30s',
        },
      },
      kinds: ['GET /api/v1/reports'],
      // k6 opens three hundred connections at the same moment.
      latencyFactor: 10,
    });
    const passed = Math.min(V1_LIMIT, requests);
    return {
      ...options,
      thresholds: {
        ...options.thresholds,
        requests_passed: [`count==${passed}`],
        requests_limited: [`count==${requests - passed}`],
      },
    };
  },

  /** A steady stream of single requests, none of which may fail during a rollout. */
  rollout: (env) => {
    const rate = readCount(env, 'RATE', 300);
    const retrySeconds = readRetrySeconds(env);
    const options = optionsOf(env, {
      scenarios: {
        stream: {
          executor: 'constant-arrival-rate',
          rate,
          timeUnit: '1s',
          duration: readDuration(env, '150s'),
          // Enough for responses that take 5 s: a VU that k6 creates on demand starts too late.
          preAllocatedVUs: (5 + retrySeconds) * rate,
        },
      },
      kinds: [...ROLLOUT_KINDS.creating, ...ROLLOUT_KINDS.reading],
      failedRate: retrySeconds > 0 ? 1 : 0,
      latencyFactor: 4,
    });
    return { ...options, thresholds: { ...options.thresholds, requests_lost: ['count==0'] } };
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;

/** The steps of `breakpoint`. */
export function breakpointOptions(env: Environment) {
  return {
    maxRate: readCount(env, 'RATE', 4_000),
    stepSeconds: secondsOf(readDuration(env, '10s')),
  };
}

interface ProfileOptions extends ThresholdOptions {
  readonly scenarios: Record<string, Scenario>;
}

function optionsOf(
  env: Environment,
  { scenarios, latencyFactor = 1, ...objectives }: ProfileOptions,
): Options {
  return {
    scenarios,
    thresholds: thresholdsOf({
      ...objectives,
      latencyFactor: latencyFactor * readFactor(env),
    }),
    ...COMMON,
  };
}

/** The journeys at a constant rate; `rate` and `duration` are defaults of `RATE` and `DURATION`. */
function steadyJourneys(
  env: Environment,
  defaults: { readonly rate: number; readonly duration: string },
) {
  return journeysAt(readCount(env, 'RATE', defaults.rate), (rate) => ({
    executor: 'constant-arrival-rate',
    rate: rate * 60,
    timeUnit: '1m',
    duration: readDuration(env, defaults.duration),
    preAllocatedVUs: Math.ceil(20 + 4 * rate),
  }));
}

/** One scenario per service, which runs its journey, with its share of `rate` arrivals per second. */
function journeysAt(rate: number, scenarioAt: (rate: number) => Scenario) {
  const total = SERVICES.reduce((sum, { loadShare }) => sum + loadShare, 0);
  return Object.fromEntries(
    SERVICES.map(({ name: exec, loadShare }): [string, Scenario] => [
      exec,
      { ...scenarioAt((rate * loadShare) / total), exec },
    ]),
  );
}

/** The planned duration of a run, in seconds, without the time that the last requests take. */
export function durationOf({ scenarios = {} }: Options): number {
  const ends = Object.values(scenarios).map((scenario) => {
    const start = secondsOf(scenario.startTime ?? '0s');
    if ('stages' in scenario) {
      return scenario.stages.reduce((sum, { duration }) => sum + secondsOf(duration), start);
    }
    if ('duration' in scenario) return start + secondsOf(scenario.duration);
    return start + secondsOf(('maxDuration' in scenario && scenario.maxDuration) || '0s');
  });
  return Math.max(...ends);
}
