import type { Options, Scenario } from 'k6/options';

import { KINDS, type Kind } from '../../slo.ts';
import { type ThresholdOptions, thresholdsOf } from './thresholds.ts';

/** The variables of README.md, such as `DURATION` and `RATE`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Builds the options of a script from its environment. */
type Profile = (env: Environment) => Options;

/** The journeys of `journeys.ts`, one per service, with their share of the arrivals in percent. */
export const SHARES = { users: 20, catalog: 50, reports: 30 } as const;

/** The requests of `rollout.ts`; half of them create users. */
export const ROLLOUT_KINDS = {
  creating: ['POST /api/v2/users', 'POST /api/v1/users'],
  reading: [
    'GET /api/v1/users/:id',
    'GET /api/v2/users',
    'GET /api/v1/catalog',
    'GET /api/v2/catalog',
    'GET /api/v1/reports',
    'GET /api/v2/reports',
  ],
} as const satisfies Record<string, readonly Kind[]>;

/** Requests per minute and user that version 1 of reports allows. */
const V1_LIMIT = 100;

/** The profiles by name; each has a script of the same name. */
export const PROFILES = {
  /** A few iterations of each journey: everything works, and nothing is slow. */
  smoke: (env) =>
    optionsOf(env, {
      scenarios: journeysAt(readCount(env, 'RATE', 6), (rate) => ({
        executor: 'constant-arrival-rate',
        rate: rate * 60,
        timeUnit: '1m',
        duration: readDuration(env, '10s'),
        preAllocatedVUs: 20,
      })),
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
      failedRate: 0.001,
      hasChecks: true,
    }),

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
    return optionsOf(env, {
      scenarios: {
        stream: {
          executor: 'constant-arrival-rate',
          rate,
          timeUnit: '1s',
          duration: readDuration(env, '150s'),
          // Enough for responses that take 5 s: a VU that k6 creates on demand starts too late.
          preAllocatedVUs: 5 * rate,
        },
      },
      kinds: [...ROLLOUT_KINDS.creating, ...ROLLOUT_KINDS.reading],
      latencyFactor: 4,
    });
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;

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
    summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
    userAgent: 'fw-load',
  };
}

/** One scenario per journey, with its share of `rate` arrivals per second. */
function journeysAt(rate: number, scenarioAt: (rate: number) => Scenario) {
  return Object.fromEntries(
    Object.entries(SHARES).map(([exec, share]): [string, Scenario] => [
      exec,
      { ...scenarioAt((rate * share) / 100), exec },
    ]),
  );
}

function readDuration(env: Environment, fallback: string): string {
  const text = env.DURATION || fallback;
  if (!/^[1-9]\d*[smh]$/.test(text)) {
    throw new RangeError(`DURATION is "${text}": expected a form such as "30s" or "5m"`);
  }
  return text;
}

function readCount(env: Environment, name: string, fallback: number): number {
  const count = Number(env[name] || fallback);
  if (!(Number.isInteger(count) && count >= 1 && count <= 10_000)) {
    throw new RangeError(`${name} is "${env[name]}": expected a whole number from 1 to 10000`);
  }
  return count;
}

function readFactor(env: Environment): number {
  const factor = Number(env.LATENCY_FACTOR || 1);
  if (!(factor > 0 && Number.isFinite(factor))) {
    throw new RangeError(`LATENCY_FACTOR is "${env.LATENCY_FACTOR}": expected a number above 0`);
  }
  return factor;
}
